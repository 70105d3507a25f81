"""Merge attention heads: each position gets the outputs of its heads side by side.

After attention, the heads' outputs have the shape (batch, heads, time, dim). The next layer wants
(batch, time, heads * dim): at every position the `dim` numbers of head 0, then those of head 1, and so on.
No loop over the heads.

    x = torch.arange(8).view(1, 2, 2, 2)   # head 0: [[0, 1], [2, 3]], head 1: [[4, 5], [6, 7]]
    merge_heads(x)                         # [[[0, 1, 4, 5], [2, 3, 6, 7]]]

The code below raises "view size is not compatible with input tensor's size and stride". The message
suggests `reshape`. Put in its place, it stops the error. Does it give the right numbers?

Fine print:
- Where x is the transpose of a contiguous (batch, time, heads, dim) tensor, the result is a view: no copy.
- Any strides, dtype and device. Any size may be 0.
- x stays as it is.
"""

from jaxtyping import Shaped
from torch import Tensor


def merge_heads(x: Shaped[Tensor, "batch heads time dim"]) -> Shaped[Tensor, "batch time heads*dim"]:
    """Put the heads of each position side by side: (batch, heads, time, dim) to (batch, time, heads * dim)."""
    batch, heads, time, dim = x.shape
    return x.transpose(2, 3).view(batch, time, heads * dim)
