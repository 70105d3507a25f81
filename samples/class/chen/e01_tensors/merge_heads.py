"""Merge attention heads: each position gets the outputs of its heads side by side.

After attention, the heads' outputs have the shape (batch, heads, time, dim). The next layer wants
(batch, time, heads * dim): at every position the `dim` numbers of head 0, then those of head 1, …

    x = torch.arange(8).view(1, 2, 2, 2)   # head 0: [[0, 1], [2, 3]], head 1: [[4, 5], [6, 7]]
    merge_heads(x)                         # [[[0, 1, 4, 5], [2, 3, 6, 7]]]

The code below raises "view size is not compatible with input tensor's size and stride". The message
suggests `reshape`. Put in its place, `reshape` stops the error; does it give the right numbers?

Rules: any sizes, also an empty batch; any dtype; any layout in memory, and on any device; x itself is
not changed. No Python loop over the heads. Where x is `y.transpose(1, 2)` of a contiguous
(batch, time, heads, dim) tensor y, its heads already lie side by side in memory: return a view of it
then, without a copy. Gradients flow through to x.
"""

from jaxtyping import Shaped
from torch import Tensor


def merge_heads(x: Shaped[Tensor, "batch heads time dim"]) -> Shaped[Tensor, "batch time heads*dim"]:
    """Put the heads of each position side by side.

    Args:
        x: outputs of the heads, (batch, heads, time, dim).

    Returns:
        The merged heads, (batch, time, heads * dim), same dtype and device.
    """
    batch, heads, time, dim = x.shape
    return x.transpose(2, 3).view(batch, time, heads * dim)
