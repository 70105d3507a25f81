import torch
from jaxtyping import BFloat16, Float32
from torch import Tensor


def sum_in_float32(x: BFloat16[Tensor, "n"]) -> Float32[Tensor, ""]:
    return x.sum(dtype=torch.float32)
