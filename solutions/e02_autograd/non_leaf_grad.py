from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor


def backward_with_activations(
    layers: Sequence[Callable[[Tensor], Tensor]],
    inputs: Float[Tensor, "..."],
    loss_fn: Callable[[Tensor], Float[Tensor, ""]],
) -> list[Tensor]:
    start = inputs if inputs.requires_grad else inputs.detach().requires_grad_()  # the caller's flag stays
    h = start.view_as(start)  # no leaf, so that its .grad is that of this call
    activations = [h]
    for layer in layers:
        h = layer(h)
        activations.append(h)
    for h in activations:
        h.retain_grad()  # before the backward; what is no leaf would keep none
    loss_fn(activations[-1]).backward()
    return [h.grad for h in activations]
