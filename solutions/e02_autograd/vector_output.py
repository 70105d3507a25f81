from collections.abc import Callable

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


def weighted_backward(
    losses: Float[Tensor, "*batch"], weights: Shaped[Tensor, "*batch"] | None = None
) -> None:
    if weights is None:
        weights = torch.ones_like(losses)
    losses.backward(gradient=_weights_for(losses, weights))


def vjp(
    fn: Callable[[Tensor], Tensor], x: Float[Tensor, "*inputs"], v: Shaped[Tensor, "*outputs"]
) -> tuple[Float[Tensor, "*outputs"], Float[Tensor, "*inputs"]]:
    leaf = x.detach().requires_grad_()  # x itself stays as it is
    with torch.enable_grad():
        y = fn(leaf)  # (*outputs)
    weights = _weights_for(y, v)
    if not y.requires_grad:  # a constant: there is no graph to walk
        return y, torch.zeros_like(x)
    (product,) = torch.autograd.grad(y, leaf, weights, materialize_grads=True)  # (*inputs)
    return y.detach(), product


def _weights_for(outputs: Tensor, weights: Tensor) -> Tensor:
    if weights.shape != outputs.shape:
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} for outputs of shape {tuple(outputs.shape)}"
        )
    return weights.detach()
