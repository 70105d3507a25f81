"""torch.Tensor is not torch.tensor: a vector from the numbers at hand.

Labels, prices and ids come as a single number, as a list or tuple of numbers, or as a NumPy array. Make a vector of
them, of shape (count,), in which every number is what it was.

    as_vector(3)                              # tensor([3])             int64
    as_vector([16_777_217, 5])                # tensor([16777217, 5])   int64
    as_vector((0.5, 2))                       # tensor([0.5, 2.0])      float32
    as_vector([1, 0], dtype=torch.bool)       # tensor([True, False])

- Without `dtype`, bools become torch.bool, ints int64, floats float32; arrays keep their dtype.

The code below is written with the class `torch.Tensor`, which takes a bare int for a size and all else for float32: 3
comes out as three numbers that nobody chose, and the id 16777217 as 16777216.0.

Fine print:
- With `dtype=torch.float64`, floats keep all their digits.
- Without, Python's floats follow `torch.set_default_dtype`.
- A NumPy number becomes a vector of one element and keeps its dtype, as arrays do.
- No values make a vector of shape (0,).
- Arrays may be strided or reversed: `ids[::-1]`.
- Writing into the vector does not change an array that was given.
- Tables raise ValueError, also those of one row.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor


def as_vector(
    values: float | Sequence[float] | np.ndarray | np.generic, dtype: torch.dtype | None = None
) -> Shaped[Tensor, " count"]:
    """Make a vector of the values, in their own dtype or in `dtype`."""
    vector = torch.Tensor(values)
    if vector.ndim > 1:
        raise ValueError(f"a vector has one dim, the values have shape {tuple(vector.shape)}")
    return vector if dtype is None else vector.to(dtype)
