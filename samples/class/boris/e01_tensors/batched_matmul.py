"""Batched products: three ways to multiply, for any number of leading dimensions.

`scores` multiplies every query with every key, `outer` every row entry with every column entry, and
`bilinear` gives, for each plane o of a weight, the number left · weight[o] · right.

    scores(tensor([[1., 2.]]), tensor([[3., 4.], [5., 6.]]))    # [[11., 17.]], a row for each query
    outer(tensor([1., 2.]), tensor([3., 4., 5.]))               # [[3., 4., 5.], [6., 8., 10.]]
    weight = tensor([[[0., 1., 0.], [0., 0., 0.]]])             # (1, 2, 3): picks left[0] * right[1]
    bilinear(tensor([1., 2.]), weight, tensor([3., 4., 5.]))    # [4.]

Leading dimensions (`*batch` below): there may be none, one or several of them, of any size, 0 and 1
included; all other sizes are at least 1. Those of two arguments broadcast like everywhere in PyTorch,
aligned from the right: queries (8, 6, time, dim) go with keys (6, source, dim) and with keys
(8, 1, source, dim). The weight of `bilinear` always has three dimensions.

Rules: all of PyTorch is allowed. The arguments are floating, share one dtype, and the result has it too
(float64 is computed in float64). They may be strided in any way, and are not changed. No Python loop over
any dimension; `scores` builds nothing of time × source × dim numbers. Gradients flow to every argument.
"""

from jaxtyping import Float
from torch import Tensor


def scores(
    query: Float[Tensor, "*batch time dim"], key: Float[Tensor, "*batch source dim"]
) -> Float[Tensor, "*batch time source"]:
    """Dot product of every query with every key.

    Args:
        query: (*batch, time, dim).
        key: (*batch, source, dim), its leading dimensions broadcast with those of `query`.

    Returns:
        (*batch, time, source): entry [t, s] belongs to query t and key s.
    """
    raise NotImplementedError


def outer(
    left: Float[Tensor, "*batch rows"], right: Float[Tensor, "*batch columns"]
) -> Float[Tensor, "*batch rows columns"]:
    """Product of every entry of `left` with every entry of `right`.

    Args:
        left: (*batch, rows).
        right: (*batch, columns), its leading dimensions broadcast with those of `left`.

    Returns:
        (*batch, rows, columns): entry [r, c] is left[r] * right[c].
    """
    raise NotImplementedError


def bilinear(
    left: Float[Tensor, "*batch m"], weight: Float[Tensor, "out m n"], right: Float[Tensor, "*batch n"]
) -> Float[Tensor, "*batch out"]:
    """One number for each plane of the weight: the sum of left[i] * weight[o, i, j] * right[j].

    Args:
        left: (*batch, m).
        weight: (out, m, n), the same for the whole batch.
        right: (*batch, n), its leading dimensions broadcast with those of `left`.

    Returns:
        (*batch, out).
    """
    raise NotImplementedError
