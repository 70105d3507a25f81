"""Blank the numbers below 0 in a copy: `x[mask] = …` and `clone`.

Readings below 0 are faults. Return a copy of x that has 0 in their place, for x of any shape. x itself stays as it
is: others still read it.

    x = torch.tensor([1.0, -2.0, 3.0])
    blank_negative(x)      # tensor([1., 0., 3.])
    x                      # tensor([ 1., -2.,  3.])

New here: `y[mask] = 7` writes 7 into y wherever the mask is True. `x.clone()` is a copy of x; after `y = x`, both
names mean the same tensor.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def blank_negative(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    raise NotImplementedError
