import torch
from jaxtyping import Int
from torch import Tensor


def names_to_numbers(names: list[str]) -> Int[Tensor, "rows"]:
    classes = sorted(set(names))
    return torch.tensor([classes.index(name) for name in names])  # (rows,)
