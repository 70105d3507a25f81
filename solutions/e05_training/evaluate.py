from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def evaluate(
    model: nn.Module,
    loss_fn: Callable[[Any, Tensor], Tensor],
    batches: Iterable[tuple[Any, Shaped[Tensor, "batch *labels"]]],
) -> float:
    modes = [(layer, layer.training) for layer in model.modules()]
    total, count = 0.0, 0
    try:
        model.eval()
        with torch.no_grad():
            for inputs, targets in batches:
                loss = loss_fn(model(inputs), targets)  # ()
                if len(targets) > 0:  # else the loss is NaN, and times 0 it still is
                    total += loss.item() * len(targets)
                    count += len(targets)
    finally:
        for layer, training in modes:  # one by one: model.train(training) would give all the same
            layer.training = training
    if count == 0:
        raise ValueError("There is nothing to evaluate: the batches hold no examples.")
    return total / count
