from collections.abc import Callable, Iterable

import torch
from jaxtyping import Shaped
from torch import Tensor, nn

Batch = tuple[Shaped[Tensor, "batch *features"], Shaped[Tensor, "batch *labels"]]


def batch_gradients(
    model: nn.Module, loss_fn: Callable[[Tensor, Tensor], Tensor], batches: Iterable[Batch]
) -> list[dict[str, Tensor]]:
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    found = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)  # ()
        # returned rather than added to .grad; zeros in place of None
        gradients = torch.autograd.grad(loss, list(trainable.values()), materialize_grads=True)
        found.append(dict(zip(trainable, gradients, strict=True)))
    return found
