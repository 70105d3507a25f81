from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap


def per_sample_gradients(
    model: nn.Module, loss: Callable[[Tensor, Tensor], Tensor], x: Tensor, y: Tensor
) -> dict[str, Tensor]:
    def loss_of(trained: dict[str, Tensor], one: Tensor, target: Tensor) -> Tensor:
        output = functional_call(model, trained, (one.unsqueeze(0),))
        return loss(output, target.unsqueeze(0))

    trained = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
    with torch.no_grad():  # grad records by itself; nothing is recorded of it
        slopes = vmap(grad(loss_of), in_dims=(None, 0, 0), randomness="different")(trained, x, y)
    return dict(slopes)  # of each name (batch, *shape)


def clipped_mean(grads: dict[str, Tensor], max_norm: float) -> dict[str, Tensor]:
    flat = torch.cat([g.flatten(1) for g in grads.values()], 1)  # (batch, numbers)
    factors = (max_norm / flat.norm(dim=1)).clamp(max=1.0)  # (batch,); 1 where the norm is 0
    return {name: torch.tensordot(factors, g, 1) / len(g) for name, g in grads.items()}
