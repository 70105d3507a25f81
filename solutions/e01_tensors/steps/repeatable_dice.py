import torch
from jaxtyping import Int
from torch import Tensor


def dice(n: int, seed: int) -> Int[Tensor, " n"]:
    gen = torch.Generator().manual_seed(seed)
    return torch.randint(1, 7, (n,), generator=gen)
