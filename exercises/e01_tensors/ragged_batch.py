"""A batch of rows of unequal length, without its padding: values and offsets.

Padded to the longest, a batch of short and long texts is mostly padding. Attention for unequal lengths, EmbeddingBag and
PyTorch's nested tensors take all values end to end, and offsets that say where each row begins, and the last one ends.
Write the way there and back:

    table = torch.tensor([[5., 3., 0.], [0., 0., 0.], [8., 2., 9.]])
    values, offsets = unpad(table, lengths=torch.tensor([2, 0, 3]))
    values     # [5, 3, 8, 2, 9]
    offsets    # [0, 2, 2, 5], int64
    pad(values, offsets, padding=-1.0)      # [[5, 3, -1], [-1, -1, -1], [8, 2, 9]]

- Row i is values[offsets[i] : offsets[i + 1]].
- `pad` makes a table as long as the longest row, with padding behind the others.
- `unpad` goes by the lengths: anything may stand in the padding.
- Gradients flow back (section e02).

Fine print:
- Numbers may have features: a table is then (batch, time, *features), values are (total, *features).
- Many rows take as many operations as few (pad_sequence copies row by row).
- All rows may be empty: `pad` then makes a table of (batch, 0). There may be no rows.
- A table for `unpad` may be longer than its longest row.
- Values and table keep their dtype; arguments stay as they are, and may have any strides.
- Results are where the arguments are. From another device only the longest length is copied to the CPU.
"""

from jaxtyping import Int64, Shaped
from torch import Tensor


def unpad(
    table: Shaped[Tensor, "batch time *features"], lengths: Int64[Tensor, "batch"]
) -> tuple[Shaped[Tensor, "total *features"], Int64[Tensor, "batch+1"]]:
    """The first numbers of each row, as many as `lengths` says, end to end, and their offsets."""
    raise NotImplementedError


def pad(
    values: Shaped[Tensor, "total *features"], offsets: Int64[Tensor, "batch+1"], padding: float = 0.0
) -> Shaped[Tensor, "batch time *features"]:
    """A table of these rows."""
    raise NotImplementedError
