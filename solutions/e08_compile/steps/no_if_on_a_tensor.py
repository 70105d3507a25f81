import torch
from jaxtyping import Float
from torch import Tensor


def no_if_on_a_tensor(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.where(x.sum() > 0, x, -x)
