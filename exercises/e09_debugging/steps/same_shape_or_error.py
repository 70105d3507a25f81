"""Refuse tensors of different shapes.

Predictions of shape (4, 1) minus targets of shape (4,) make a (4, 4) table: every prediction minus every target. Its mean
is wrong, and nothing complains. Return the mean squared error, and raise a `ValueError` where the shapes differ.

    same_shape_or_error(torch.tensor([1.0, 5.0]), torch.tensor([1.0, 3.0]))
    # tensor(2.)
    same_shape_or_error(torch.ones(4, 1), torch.ones(4))        # ValueError

New here: shapes compare like tuples, `a.shape != b.shape`; `raise ValueError("...")` ends the call with an error.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def same_shape_or_error(
    predicted: Float[Tensor, "*shape"], target: Float[Tensor, "*shape"]
) -> Float[Tensor, ""]:
    raise NotImplementedError
