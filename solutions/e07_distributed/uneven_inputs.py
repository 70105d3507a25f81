from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

Batch = tuple[Float[Tensor, "rows features"], Float[Tensor, "rows outputs"]]


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, ""]],
    batches: Iterable[Batch],
) -> list[float]:
    wrapped = DistributedDataParallel(model)
    losses = []
    with wrapped.join():  # whoever is done adds zeros here, and takes over the weights at the end
        for x, target in batches:
            loss = loss_fn(wrapped(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses
