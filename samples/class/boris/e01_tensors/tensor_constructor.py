"""A vector from the numbers at hand: one label, a column of prices, a NumPy array of ids.

    as_vector(3)                              # tensor([3])             int64
    as_vector([16_777_217, 5])                # tensor([16777217, 5])   int64
    as_vector((0.5, 2))                       # tensor([0.5, 2.0])      float32
    as_vector([1, 0], dtype=torch.bool)       # tensor([True, False])

Written with the class constructor `torch.Tensor`, one label 3 comes out as three numbers that nobody
chose, the label 0 as an empty vector, and the id 16777217 as 16777216.0: the class takes a bare int
for a size, and everything else for float32.

`values` is a number, a bool, a list or tuple of these (Python's own), a NumPy number or a NumPy array of
numbers or bools, strided or reversed (`ids[::-1]`) as it may be. Rules:

- A single number, Python's or NumPy's or a 0-d array, becomes a vector with one element.
- Without `dtype`, bools become torch.bool, ints int64, and floats, or ints mixed with floats, torch's
  default dtype at the time of the call (float32 unless `torch.set_default_dtype` changed it). NumPy
  numbers and arrays keep their dtype: float64 stays float64, int32 stays int32.
- With `dtype`, the vector has that one. An int never passes through a float on its way to an int64.
- No values make a vector of shape (0,): from an empty list or tuple in the default dtype, from an empty
  array in the array's.
- The vector has memory of its own: writing into it does not change a NumPy array that was given.
- Nested lists or tuples, also ragged ones such as [1, [2]], and arrays of two or more dims raise
  ValueError, also when they hold only one number or none.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor


def as_vector(
    values: float | Sequence[float] | np.ndarray | np.generic, dtype: torch.dtype | None = None
) -> Shaped[Tensor, " count"]:
    """Make a vector of the values.

    Args:
        values: a number, or any count of them.
        dtype: the dtype of the vector; None for that of the values.

    Returns:
        The values, (count,).

    Raises:
        ValueError: the values have more than one dim.
    """
    if isinstance(values, list | tuple) and any(isinstance(value, list | tuple) for value in values):
        raise ValueError("a vector has one dim, these values are nested")
    if isinstance(values, np.ndarray):
        values = np.ascontiguousarray(values)  # torch.tensor takes no negative strides
    vector = torch.tensor(values, dtype=dtype)  # () for a number, (count,) for a sequence
    if vector.ndim > 1:
        raise ValueError(f"a vector has one dim, the values have shape {tuple(vector.shape)}")
    return torch.atleast_1d(vector)  # (count,)
