"""Rows times columns: `@`.

Baskets hold how many of each fruit a person buys, prices what a fruit costs. Write three functions for what
each person pays: in one shop; in each of several shops; in each shop, for several weeks.

    baskets = torch.tensor([[2.0, 1.0], [0.0, 3.0]])
    one_shop(baskets, torch.tensor([5.0, 4.0]))
    # tensor([14., 12.])
    shops(baskets, torch.tensor([[5.0, 6.0], [4.0, 1.0]]))
    # tensor([[14., 13.], [12., 3.]])

New here: `a @ b`, or `torch.matmul(a, b)`, multiplies rows of a by columns of b, number by number, and adds
up. A vector on the right gives a vector, dims in front stay:

    (2, 3) @ (3, 5) is (2, 5)      (2, 3) @ (3,) is (2,)
    (4, 2, 3) @ (3, 5) is (4, 2, 5)

`torch.bmm` wants batches on both sides.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def one_shop(
    baskets: Float[Tensor, "people fruits"], prices: Float[Tensor, " fruits"]
) -> Float[Tensor, " people"]:
    raise NotImplementedError


def shops(
    baskets: Float[Tensor, "people fruits"], prices: Float[Tensor, "fruits shops"]
) -> Float[Tensor, "people shops"]:
    raise NotImplementedError


def weeks(
    baskets: Float[Tensor, "weeks people fruits"], prices: Float[Tensor, "fruits shops"]
) -> Float[Tensor, "weeks people shops"]:
    raise NotImplementedError
