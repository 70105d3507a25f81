import torch
from jaxtyping import Int
from torch import Tensor


def first_tensor(first: list[int], second: list[int]) -> Int[Tensor, "2 columns"]:
    return torch.tensor([first, second])  # (2, columns)
