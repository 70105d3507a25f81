import torch
from jaxtyping import Bool, Int
from torch import Tensor


def either_or(
    condition: Bool[Tensor, "*shape"], a: Int[Tensor, "*shape"], b: Int[Tensor, "*shape"]
) -> Int[Tensor, "*shape"]:
    return torch.where(condition, a, b)
