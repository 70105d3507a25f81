import torch
from jaxtyping import Float
from torch import Tensor


def ask_once(losses: list[Float[Tensor, ""]]) -> float:
    return torch.stack(losses).mean().item()
