import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor


def to_numpy(x: Shaped[Tensor, "*sizes"]) -> Shaped[np.ndarray, "*sizes"]:
    values = x.detach().cpu()  # neither copies on the CPU
    if values.dtype == torch.bfloat16:
        values = values.float()
    return values.numpy()


def from_numpy(array: Shaped[np.ndarray, "*sizes"]) -> Shaped[Tensor, "*sizes"]:
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    return torch.from_numpy(array)
