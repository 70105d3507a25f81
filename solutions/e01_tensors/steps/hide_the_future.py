import torch
from jaxtyping import Float
from torch import Tensor


def hide_the_future(scores: Float[Tensor, "time time"]) -> Float[Tensor, "time time"]:
    future = torch.ones(scores.shape, dtype=torch.bool).triu(1)
    return scores.masked_fill(future, float("-inf"))
