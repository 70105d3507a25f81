"""Count NaN and infinity.

A loss has become NaN, and you look for the tensor where it began. Return two Python integers: how many numbers of `x`
are NaN (not a number, such as 0 / 0), and how many are infinite, of either sign.

    is_it_finite(torch.tensor([1.0, float("nan"), float("-inf")]))
    # (1, 1)

New here: `torch.isnan(x)` and `torch.isinf(x)` give True or False for each number. `x == float("nan")` finds nothing:
NaN does not even equal itself.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def is_it_finite(x: Float[Tensor, "*shape"]) -> tuple[int, int]:
    raise NotImplementedError
