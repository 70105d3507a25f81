import torch
from jaxtyping import Float, Int8
from torch import Tensor


def one_byte_each(x: Float[Tensor, "n"]) -> tuple[Int8[Tensor, "n"], Float[Tensor, ""]]:
    scale = x.abs().max() / 127
    q = (x / scale).round().to(torch.int8)
    return q, scale
