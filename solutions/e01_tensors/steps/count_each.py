import torch
from jaxtyping import Int
from torch import Tensor


def count_each(votes: Int[Tensor, " voters"], n: int) -> Int[Tensor, " n"]:
    return torch.bincount(votes, minlength=n)
