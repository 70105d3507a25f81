"""Sequences of unequal length as one batch: padded, with their lengths and a mask.

Tokenised sentences have any length, and `default_collate` refuses them: "stack expects each tensor to be
equal size". As `collate_fn` of a DataLoader, this function makes a batch of them.

    sentences = [torch.tensor([5, 0, 2]), torch.tensor([], dtype=torch.int64), torch.tensor([7])]
    batch = pad_collate(sentences, padding=-1, multiple_of=2)
    batch.values     # [[5, 0, 2, -1], [-1, -1, -1, -1], [7, -1, -1, -1]]
    batch.lengths    # [3, 0, 1], int64
    batch.mask       # [[True, True, True, False], [False] * 4, [True, False, False, False]]

    loader = DataLoader(dataset, 32, collate_fn=functools.partial(pad_collate, padding=-1), num_workers=2)

Rules:
- A sequence has the shape (time, *features): tokens have no feature dimensions, frames of audio have one.
  values is (batch, time, *features): each sequence at the start of its row, in order, and `padding` after
  it. lengths holds the number of steps of each; mask is (batch, time), True at real steps. A real step may
  well hold the padding value, or NaN.
- time is that of the longest sequence, rounded up to a multiple of `multiple_of` (hardware likes 8 or 64).
- Sequences may be empty, one or all of them: time is 0 if all are.
- values has the dtype of the sequences: integers above 2**53, bool, float64, bfloat16 come through exactly.
- values, lengths and mask are on the device of the sequences.
- The batch has memory of its own: whoever writes into it changes no sequence, even where there is only one
  and nothing was to be padded. The sequences, in any layout in memory, stay as they are.
- It works in workers, forked or spawned, and keeps nothing from one call to the next.

ValueError if there are no sequences; if one has no dimensions; if their dtypes or their features differ
(nothing is promoted or broadcast); or if multiple_of is less than 1.
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
    sequences: Sequence[Shaped[Tensor, "time *features"]],
    padding: float | bool = 0,
    multiple_of: int = 1,
) -> PaddedBatch:
    """Make a batch of sequences of any length.

    Args:
        sequences: tensors (time, *features), at least one.
        padding: what stands behind the end of a sequence; a number that the dtype holds, and a float too.
        multiple_of: the padded time is a multiple of this.

    Returns:
        values (batch, time, *features), lengths (batch,) in int64, and mask (batch, time).

    Raises:
        ValueError: there are no sequences, they do not fit together, or multiple_of is less than 1.
    """
    raise NotImplementedError
