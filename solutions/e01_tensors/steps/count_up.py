import torch
from jaxtyping import Float, Int
from torch import Tensor


def count_up(stop: int, n: int) -> tuple[Int[Tensor, " evens"], Float[Tensor, " n"]]:
    return torch.arange(0, stop, 2), torch.linspace(0, 1, n)
