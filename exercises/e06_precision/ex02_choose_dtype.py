"""Which dtype for these numbers? First the range, then the precision.

A table with 200 million rows comes from pandas in int64 and float64, and has to fit into memory: each column
goes into the first dtype that holds it. `torch.finfo` and `torch.iinfo` know what a dtype can do.

    float_for(0.001, 60000.0, error=0.001)         # torch.float16: ends at 65504, digits good for 0.00049
    float_for(0.001, 70000.0, error=0.005)         # torch.bfloat16: the range of float32, digits for 0.0039
    float_for(0.001, 70000.0, error=0.001)         # torch.float32: the one is too short, the other too coarse
    float_for(0.00001, 1.0, error=0.001)           # torch.float32: 0.00001 is subnormal in float16
    int_for(0, 255), int_for(-1, 255)              # torch.uint8, torch.int16
    compact(torch.tensor([0.0, -2.5, 1000.0], dtype=torch.float64), error=0.001)     # the same in float16

Rules:
- A floating dtype holds smallest to largest within error, where largest is at most its largest number,
  smallest at least its smallest normal number (below lie the subnormals, which lose digit after digit, and
  then zero), and half of its eps at most error. Half, because rounding goes to the nearest number.
- An integer dtype holds low to high where both lie in its range, ends included.
- The result is the first of candidates that holds the numbers, in the order given, whatever the sizes. They
  are any floating dtypes of PyTorch with a sign and a zero, float8 as well, or any integer ones.
- `compact` converts x, as `to` does it, with the default candidates. The range of floating x goes from
  the smallest to the largest size of its elements, leaving out 0, inf and NaN, which each of these dtypes
  has. (The result may be wider than x: float16 can hold subnormals.) That of integer x goes from its least to
  its greatest element, and error plays no part. Without any such element the first candidate is taken.
- x has any shape, also none or an empty one, and any dtype among the default candidates. The result has its
  shape and device. bool stays bool. x is not changed, but may be returned as it is where its dtype is right.

Bad input: ValueError where no candidate holds the numbers, where not 0 < smallest <= largest < inf, and where
low > high.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Shaped
from torch import Tensor

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def float_for(
    smallest: float, largest: float, error: float, candidates: Sequence[torch.dtype] = FLOATS
) -> torch.dtype:
    """The first floating dtype that holds numbers of these sizes.

    Args:
        smallest: the smallest size, without sign, of a number other than 0.
        largest: the largest size.
        error: the relative error that one rounding may make.
        candidates: floating dtypes, in order of preference.

    Raises:
        ValueError: none holds them, or not 0 < smallest <= largest < inf.
    """
    raise NotImplementedError


def int_for(low: int, high: int, candidates: Sequence[torch.dtype] = INTEGERS) -> torch.dtype:
    """The first integer dtype that holds all integers from low to high, both included.

    Args:
        low: the least number, of any size.
        high: the greatest number, of any size.
        candidates: integer dtypes, in order of preference.

    Raises:
        ValueError: none holds them, or low > high.
    """
    raise NotImplementedError


def compact(x: Shaped[Tensor, "*shape"], error: float) -> Shaped[Tensor, "*shape"]:
    """Convert a column to the first dtype that holds it.

    Args:
        x: the numbers, (*shape).
        error: the relative error that each number may suffer.

    Returns:
        The numbers in another dtype, (*shape).

    Raises:
        ValueError: no dtype holds them.
    """
    raise NotImplementedError
