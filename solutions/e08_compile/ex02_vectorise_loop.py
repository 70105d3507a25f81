"""Words out of word pieces: one operation for the batch instead of one for each word.

A tokenizer splits words into pieces, but labels such as "this is a name" belong to words. `pool_words` gives
each word the mean of the states of its pieces:

    states = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [9.0, 9.0]]])     # one row, four pieces
    word_ids = torch.tensor([[0, 1, 1, -1]])        # the second word has two pieces; the last one is padding
    pool_words(states, word_ids, words=3)           # [[[1., 2.], [4., 5.], [0., 0.]]]

The code below computes all of this right. But it takes four seconds for a batch that the model has read in
twenty milliseconds: it starts a handful of small operations for each word of each row, and the device spends
its time waiting for the next.

Rules:
- Values and gradients are those of the code below. The number of operations and of Python steps is the same
  for any batch, time, words and dim.
- Memory grows with time and with words, not with their product: no tensor holds batch * words * time numbers.
- A piece with an id outside 0 .. words - 1 belongs to no word: special tokens and padding, which have -1, and
  the end of a text that is too long. What its state holds, be it NaN, reaches no word, and its gradient is 0.
- The pieces of a word need not be neighbours, and ids need not rise. A word without pieces gets zeros.
- NaN or inf in a piece makes its own word NaN or inf, and leaves all others as they are.
- The means have the dtype of states, float64, float32, float16 or bfloat16, but sums and counts are kept in
  float32 or wider, and only the mean is rounded: the sum of 300 pieces of 300 does not fit into float16.
- batch, time and words may be 0. The inputs are not changed, and may be on any device.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def pool_words(
    states: Float[Tensor, "batch time dim"], word_ids: Int[Tensor, "batch time"], words: int
) -> Float[Tensor, "batch words dim"]:
    """Average the states of each word's pieces.

    Args:
        states: the state of each piece.
        word_ids: int64, to which word of its row a piece belongs.
        words: how many words a row of the result has.

    Returns:
        The mean state of each word, in the dtype of states.
    """
    batch, _, dim = states.shape
    wide = torch.promote_types(states.dtype, torch.float32)
    known = (word_ids >= 0) & (word_ids < words)  # (batch, time)
    slot = torch.where(known, word_ids, words).unsqueeze(-1)  # (batch, time, 1): one slot more, for the rest
    sums = torch.zeros(batch, words + 1, dim, dtype=wide, device=states.device)
    sums = sums.scatter_add(1, slot.expand(states.shape), states.to(wide))  # (batch, words + 1, dim)
    counts = torch.zeros(batch, words + 1, 1, dtype=wide, device=states.device)
    counts = counts.scatter_add(1, slot, torch.ones_like(slot, dtype=wide))  # (batch, words + 1, 1)
    return (sums / counts.clamp(min=1))[:, :words].to(states.dtype)  # (batch, words, dim)
