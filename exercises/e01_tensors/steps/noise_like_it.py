"""A little noise: `torch.randn_like`.

A recording is to be tried with noise in it. Return x with noise added to each number: `size` times decimals around 0,
drawn anew at each call.

    x = torch.tensor([3.0, 4.0, 5.0])
    noisy(x, 0.1)      # for instance tensor([3.0338, 4.1129, 4.9776])
    noisy(x, 0.1)      # other numbers

New here: `torch.randn_like(x)` draws as `torch.randn` does, about 1 away from 0, with shape, dtype and device from x.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def noisy(x: Float[Tensor, "*shape"], size: float) -> Float[Tensor, "*shape"]:
    raise NotImplementedError
