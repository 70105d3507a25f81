"""Keep the numbers that pass a test: a mask in brackets.

A till writes down sales, and refunds below 0. Return only the numbers above 0, in one flat row: in the order of x, row
by row, whatever its shape.

    only_positive(torch.tensor([[3.0, -1.0], [0.0, 2.0]]))
    # tensor([3., 2.])

New here: `x < 5` compares each number, and gives a tensor of True and False in the shape of x: a *mask*. `x[mask]`
takes the numbers where the mask is True, in one row.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def only_positive(x: Float[Tensor, "*shape"]) -> Float[Tensor, " found"]:
    raise NotImplementedError
