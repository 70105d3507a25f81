"""Change a tensor itself, or make a new one: `add_`.

Two parts of a program share a counter. `plus_one` returns x plus 1 and leaves x alone. `add_one` changes x
itself, for both parts, and returns nothing.

    x = torch.tensor([1.0, 2.0])
    plus_one(x)      # tensor([2., 3.]), and x is still [1., 2.]
    add_one(x)       # now x is [2., 3.]

New here: a method with `_` at its end works *in place*: `x.mul_(2)` doubles x itself, as does `x *= 2`.
`x = x * 2` makes a new tensor called x. A part such as `x[0]` is a *view*: it shares memory with x.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def plus_one(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    raise NotImplementedError


def add_one(x: Float[Tensor, "*shape"]) -> None:
    raise NotImplementedError
