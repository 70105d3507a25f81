from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


def pad_to_the_longest(sentences: list[Int[Tensor, "_"]]) -> Int[Tensor, "sentences longest"]:
    return pad_sequence(sentences, batch_first=True)
