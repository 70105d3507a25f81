from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor


def as_vector(
    values: float | Sequence[float] | np.ndarray | np.generic, dtype: torch.dtype | None = None
) -> Shaped[Tensor, " count"]:
    if isinstance(values, np.ndarray):
        values = np.ascontiguousarray(values)  # torch.tensor takes no negative strides
    vector = torch.tensor(values, dtype=dtype)  # () for a number, (count,) for a sequence
    if vector.ndim > 1:
        raise ValueError(f"a vector has one dim, the values have shape {tuple(vector.shape)}")
    return torch.atleast_1d(vector)  # (count,)
