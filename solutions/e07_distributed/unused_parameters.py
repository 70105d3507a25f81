from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

Batch = tuple[Float[Tensor, "rows features"], int, Float[Tensor, "rows outputs"]]


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, ""]],
    batches: Sequence[Batch],
) -> list[float]:
    wrapped = DistributedDataParallel(model, find_unused_parameters=True)  # walks the graph in each forward
    losses = []
    for x, task, target in batches:
        loss = loss_fn(wrapped(x, task), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
