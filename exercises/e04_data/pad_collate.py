"""Sequences of unequal length as one batch: padded, with their lengths and a mask.

Tokenised sentences have any length, and a DataLoader cannot batch them: "stack expects each tensor to be equal
size". Write the `collate_fn` that can: each sequence stands at the start of its row, with `padding` behind it.

    sentences = [torch.tensor([5, 0, 2]), torch.tensor([7])]
    batch = pad_collate(sentences, padding=-1)
    batch.values     # [[5, 0, 2], [7, -1, -1]]
    batch.lengths    # [3, 1], int64
    batch.mask       # [[True, True, True], [True, False, False]]

    loader = DataLoader(dataset, 32, collate_fn=functools.partial(pad_collate, padding=-1))

- A sequence is (time, *features): a token has no features, a frame of audio has a dimension of them.
- values is (batch, time, *features), in the dtype of the sequences and in their order.
- The mask is (batch, time), True at real steps. A real step may hold the padding value, too.

Fine print:
- time is rounded up to a multiple of `multiple_of`: hardware likes 8 or 64.
- Sequences may be empty. If all are, time is 0.
- The batch is on the device of the sequences, all of it.
- It has memory of its own, even where nothing was to be padded; the list and the sequences stay as they are.
- ValueError if there are no sequences, or if they have different dtypes: nothing is converted.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jaxtyping import Bool, Int, Shaped
from torch import Tensor


class PaddedBatch(NamedTuple):
    """Sequences side by side: the padded values, how long each is, and where the real steps are."""

    values: Shaped[Tensor, "batch time *features"]
    lengths: Int[Tensor, "batch"]
    mask: Bool[Tensor, "batch time"]


def pad_collate(
    sequences: Sequence[Shaped[Tensor, "time *features"]], padding: float = 0, multiple_of: int = 1
) -> PaddedBatch:
    """Make a batch of sequences of any length."""
    raise NotImplementedError
