import numpy as np
import torch

def as_vector(values, dtype=None):
    if isinstance(values, np.ndarray) and any(stride < 0 for stride in values.strides):
        values = values.copy()
    try:
        vector = torch.as_tensor(values, dtype=dtype).clone()
    except TypeError:
        raise ValueError("nested") from None
    if vector.dim() >= 2:
        raise ValueError("expected at most one dim")
    return vector.reshape(-1)
