"""Which dtype for these numbers? First the range, then the digits.

A table from pandas, in int64 and float64, has to fit into memory. `float_for` and `int_for` give the
first of FLOATS or INTEGERS that holds numbers of a range, and `compact` converts a column to it.
`torch.finfo` and `torch.iinfo` know what a dtype can do.

    float_for(0.001, 60000.0, error=0.001)         # torch.float16: ends at 65504, digits good for 0.00049
    float_for(0.001, 70000.0, error=0.005)         # torch.bfloat16: the range of float32, digits for 0.0039
    float_for(0.001, 70000.0, error=0.001)         # torch.float32: the one is too short, the other too coarse
    float_for(0.00001, 1.0, error=0.001)           # torch.float32: float16 has all digits from 0.000061 on
    int_for(0, 255), int_for(-1, 255)              # torch.uint8, torch.int16
    compact(torch.tensor([0.0, -2.5, 1000.0], dtype=torch.float64), error=0.001)     # the same in float16

- A floating dtype reaches from `smallest_normal` (below it, digits are lost) to `max`, ends included.
- Rounding to it makes a relative error of up to half its `eps`, which may be `error` at most.
- An integer dtype reaches from `min` to `max`, ends included.
- `compact`: for floats, the sizes without sign decide, zeros left out; for integers, least and greatest, not `error`.

Fine print:
- inf and NaN in x do not count, and come back: each of these floating dtypes has them.
- x without any number, or with no other than 0, goes into the first dtype of its kind. bool stays bool.
- Integers are told apart exactly, beyond 2**53 as well.
- ValueError where no dtype holds the numbers, where not 0 < smallest <= largest < inf, and where low > high.
- Any shape and strides; the result is on x's device, and x stays as it is.
"""

import torch
from jaxtyping import Shaped
from torch import Tensor

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def float_for(smallest: float, largest: float, error: float) -> torch.dtype:
    """The first of FLOATS for numbers whose sizes, without sign, go from smallest to largest."""
    raise NotImplementedError


def int_for(low: int, high: int) -> torch.dtype:
    """The first of INTEGERS that holds all integers from low to high."""
    raise NotImplementedError


def compact(x: Shaped[Tensor, "*shape"], error: float) -> Shaped[Tensor, "*shape"]:
    """Convert x to the first dtype of its kind, floating or integer, that holds its numbers."""
    raise NotImplementedError
