import torch
from jaxtyping import Float
from torch import Tensor


def angles_of_positions(time: int, dim: int) -> Float[Tensor, "time pairs"]:
    speeds = 10000.0 ** -(torch.arange(0, dim, 2) / dim)  # (dim / 2,)
    return torch.outer(torch.arange(time), speeds)
