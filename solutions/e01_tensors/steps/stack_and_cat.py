import torch
from jaxtyping import Shaped
from torch import Tensor


def on_top(
    a: Shaped[Tensor, " n"], b: Shaped[Tensor, " n"], c: Shaped[Tensor, " n"]
) -> Shaped[Tensor, "3 n"]:
    return torch.stack([a, b, c])


def end_to_end(
    a: Shaped[Tensor, " i"], b: Shaped[Tensor, " j"], c: Shaped[Tensor, " k"]
) -> Shaped[Tensor, "i+j+k"]:
    return torch.cat([a, b, c])
