from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def gradient_penalty(
    critic: Callable[[Tensor], Tensor],
    real: Float[Tensor, "batch *features"],
    fake: Float[Tensor, "batch *features"],
    mix: Float[Tensor, "batch"],
    target: float = 1.0,
) -> Float[Tensor, ""]:
    weight = mix.view(-1, *[1] * (real.dim() - 1))  # (batch, 1, ..., 1)
    between = (weight * real + (1 - weight) * fake).detach().requires_grad_()  # (batch, *features)
    scores = critic(between)  # (batch,) or (batch, 1)
    # Samples do not meet in the critic, so the gradient of the sum holds the gradient of each.
    (slopes,) = torch.autograd.grad(scores.sum(), between, create_graph=True)
    # vector_norm has a gradient of 0 at 0; the square root of a sum of squares has none.
    norms = torch.linalg.vector_norm(slopes.flatten(1), dim=1)  # (batch,)
    return (norms - target).square().mean()
