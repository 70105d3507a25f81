from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

PerBatch = Callable[[Tensor, Tensor], Tensor]


def train_epoch(
    model: nn.Module,
    loss_fn: PerBatch,
    metric_fn: PerBatch,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
) -> tuple[float, float]:
    total_loss, total_metric, count = 0.0, 0.0, 0
    for inputs, targets in batches:
        predictions = model(inputs)
        loss = loss_fn(predictions, targets)
        metric = metric_fn(predictions, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.detach() * len(targets)  # on the device still: no graph, and no wait
        total_metric += metric.detach() * len(targets)
        count += len(targets)
    return float(total_loss / count), float(total_metric / count)
