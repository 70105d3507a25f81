import math
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

Batch = tuple[Shaped[Tensor, "rows *features"], Shaped[Tensor, "rows *labels"]]


def average(value: Float[Tensor, ""]) -> float:
    total = value.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def validate(
    model: DistributedDataParallel, loss_fn: Callable[[Tensor, Tensor], Tensor], held_out: Batch
) -> float:
    inputs, targets = held_out
    sums = torch.tensor([0.0, len(inputs)], dtype=torch.float64)  # (2,), of one dtype everywhere
    if len(inputs):  # a mean over no rows is NaN
        with torch.no_grad():
            sums[0] = loss_fn(model.module(inputs), targets) * len(inputs)
    dist.all_reduce(sums)  # every rank comes here, with rows or without
    return (sums[0] / sums[1]).item()


def fit(
    model: DistributedDataParallel,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, ""]],
    optimizer: torch.optim.Optimizer,
    batches: Sequence[Batch],
    held_out: Batch,
    epochs: int,
    patience: int,
    log: Callable[[float], object],
) -> list[float]:
    history: list[float] = []
    best, waited = math.inf, 0
    for _ in range(epochs):
        for inputs, targets in batches:
            loss = loss_fn(model(inputs), targets)
            mean = average(loss)  # on every rank, and the same: one that is not finite spoils it for all
            if not math.isfinite(mean):
                continue  # a broken record must not ruin the weights
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if dist.get_rank() == 0:
                log(mean)
        history.append(validate(model, loss_fn, held_out))
        # history is the same everywhere, so every rank can decide for itself
        waited = 0 if history[-1] < best else waited + 1
        best = min(best, history[-1])
        if waited == patience:
            break
    return history
