import torch
from jaxtyping import Float
from torch import Tensor


def momentum_by_hand(p: Float[Tensor, " n"], v: Float[Tensor, " n"], lr: float, mu: float) -> None:
    v.mul_(mu)
    v.add_(p.grad)
    with torch.no_grad():
        p.sub_(lr * v)
