import torch
from jaxtyping import Float, Int
from torch import Tensor


def draw_by_weight(weights: Float[Tensor, "rows columns"]) -> Int[Tensor, " rows"]:
    return torch.multinomial(weights, 1).squeeze(1)
