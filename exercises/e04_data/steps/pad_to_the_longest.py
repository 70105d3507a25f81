"""Pad to the longest: `pad_sequence`.

Sentences become rows of numbers, one for each word, and differ in length. A tensor needs rows of one length.
Return one row for each sentence, with zeros behind the shorter ones.

    pad_to_the_longest([torch.tensor([5, 3, 8]), torch.tensor([7])])
    # tensor([[5, 3, 8],
    #         [7, 0, 0]])

New here: `pad_sequence(sentences, batch_first=True)`; without batch_first each sentence becomes a column. In
a DataLoader, `collate_fn` is the function that makes a batch of a list of items: this one can be given there.
"""

from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


def pad_to_the_longest(sentences: list[Int[Tensor, "_"]]) -> Int[Tensor, "sentences longest"]:
    raise NotImplementedError
