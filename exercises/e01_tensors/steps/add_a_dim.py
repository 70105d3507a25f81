"""Add a dim of size 1, and take it away: `unsqueeze`, `squeeze`.

Write three functions: one makes a batch of a single image, for a model that wants many at once; one makes a
column, of shape (n, 1), of a row of n numbers; one makes a row of a column.

    batch_of_one(torch.zeros(3, 28, 28)).shape
    # torch.Size([1, 3, 28, 28])
    to_column(torch.tensor([3, 4]))
    # tensor([[3], [4]])
    from_column(torch.tensor([[3], [4]]))
    # tensor([3, 4])

New here: `x.unsqueeze(0)` adds a first dim, `x.unsqueeze(1)` a second one. `x.squeeze(1)` takes dim 1 away
again; without a number, `squeeze` takes every dim of size 1.
"""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


def batch_of_one(image: Float[Tensor, "channels height width"]) -> Float[Tensor, "1 channels height width"]:
    raise NotImplementedError


def to_column(x: Shaped[Tensor, " n"]) -> Shaped[Tensor, "n 1"]:
    raise NotImplementedError


def from_column(column: Shaped[Tensor, "n 1"]) -> Shaped[Tensor, " n"]:
    raise NotImplementedError
