"""Batched products: three ways to multiply, for any number of leading dimensions.

A model multiplies whole batches at once, and batches of heads or of beams too. Write three products that leave the
dimensions in front (`*batch`) as they are, whether there are none, one or several:

- `scores`: the dot product of every query with every key.
- `outer`: every entry of `left` times every entry of `right`.
- `bilinear`: for each plane o of the weight the sum of left[i] * weight[o, i, j] * right[j].
- No loop over any dimension; all of PyTorch is allowed.

    scores(tensor([[1., 2.]]), tensor([[3., 4.], [5., 6.]]))    # [[11., 17.]], a row for each query
    outer(tensor([1., 2.]), tensor([3., 4., 5.]))               # [[3., 4., 5.], [6., 8., 10.]]
    weight = tensor([[[0., 1., 0.], [0., 0., 0.]]])             # (1, 2, 3): picks left[0] * right[1]
    bilinear(tensor([1., 2.]), weight, tensor([3., 4., 5.]))    # [4.]

Fine print:
- Leading dimensions that differ broadcast from the right: queries (8, 6, time, dim) go with keys (6, source, dim).
- `scores` builds nothing of time * source * dim numbers.
- Sizes of 1 stay as dimensions; an empty batch comes back empty.
- Arguments may be strided and stay as they are. The result has their dtype; float64 is computed in float64.
"""

from jaxtyping import Float
from torch import Tensor


def scores(
    query: Float[Tensor, "*batch time dim"], key: Float[Tensor, "*batch source dim"]
) -> Float[Tensor, "*batch time source"]:
    """Entry [t, s] belongs to query t and key s."""
    raise NotImplementedError


def outer(
    left: Float[Tensor, "*batch rows"], right: Float[Tensor, "*batch columns"]
) -> Float[Tensor, "*batch rows columns"]:
    """Entry [r, c] is left[r] * right[c]."""
    raise NotImplementedError


def bilinear(
    left: Float[Tensor, "*batch m"], weight: Float[Tensor, "out m n"], right: Float[Tensor, "*batch n"]
) -> Float[Tensor, "*batch out"]:
    """One number for each plane of the weight, which is the same for the whole batch."""
    raise NotImplementedError
