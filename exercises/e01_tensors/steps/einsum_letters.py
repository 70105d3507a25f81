"""Name the dims by letters: `einsum`.

Write three functions by `torch.einsum`: the transpose of x (rows and columns swapped); the matrix product of
a and b; the outer product, a table of each number of u times each of v.

    swapped(torch.tensor([[1, 2, 3]]))
    # tensor([[1], [2], [3]])
    product(torch.tensor([[1, 2]]), torch.tensor([[3], [4]]))
    # tensor([[11]])
    outer(torch.tensor([1, 2]), torch.tensor([3, 4]))
    # tensor([[3, 4], [6, 8]])

New here: `torch.einsum("ij,j->i", a, v)` is `a @ v`: a letter for each dim of a, of v, and of the result;
with one tensor there is no comma. Over letters missing in the result, here j, products are added up.
"""

import torch
from jaxtyping import Shaped
from torch import Tensor


def swapped(x: Shaped[Tensor, "rows columns"]) -> Shaped[Tensor, "columns rows"]:
    raise NotImplementedError


def product(
    a: Shaped[Tensor, "rows inner"], b: Shaped[Tensor, "inner columns"]
) -> Shaped[Tensor, "rows columns"]:
    raise NotImplementedError


def outer(u: Shaped[Tensor, " rows"], v: Shaped[Tensor, " columns"]) -> Shaped[Tensor, "rows columns"]:
    raise NotImplementedError
