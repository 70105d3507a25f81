import torch
from jaxtyping import Float
from torch import Tensor


def one_step_downhill(w: Float[Tensor, "n"], rate: float) -> None:
    with torch.no_grad():
        w -= rate * w.grad
