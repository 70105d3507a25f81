"""The loss on held-out data: all of it counts the same, and the model is as before.

    model = torch.nn.Identity()
    batches = [(torch.tensor([[1.0], [1.0], [1.0]]), torch.zeros(3, 1)),     # mean loss 1, three examples
               (torch.tensor([[3.0]]), torch.zeros(1, 1))]                   # mean loss 9, one example
    evaluate(model, torch.nn.functional.mse_loss, batches)                   # (3 · 1 + 1 · 9) / 4 = 3.0

Rules:
- The result is the mean loss over all examples. loss_fn gives the mean of one batch as a tensor without
  dimensions, and a batch has len(targets) examples, so a short last batch counts for less. Batches without
  examples count for nothing, whatever their loss, and need not run. A loss of NaN or inf in any other comes
  through.
- ValueError if there are no examples at all.
- The sum is kept in double precision (as Python floats are), whatever the dtype of the losses: a thousand
  small losses after a large one are not lost, and bfloat16 losses are weighed without rounding.
- Each batch runs once, in order, by `loss_fn(model(inputs), targets)`; call the model itself, as `forward`
  skips hooks. Inputs are passed on as they are: a tensor, or whatever else the model takes.
- All layers run in evaluation mode, and neither model nor loss_fn records a graph.
- When evaluate returns, or an error from the model, from loss_fn or from batches comes through (Ctrl-C is one
  too), or there are no examples, then each layer has the mode that it had before: a frozen batch norm inside
  of a model in training is still in evaluation mode, and a dropout that was kept on is on. Whether gradients
  are recorded is as before as well. Nothing else has changed: no weights, no statistics, no `.grad`.
- batches may be any iterable, also a generator, and hold more than memory does: when a batch is asked for,
  at most the one before it is still held, with its predictions (of which the loss may be a view).
- The host waits for the device at most once for each batch, and copies nothing to it.
"""

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
    """The mean loss over all examples of `batches`, in evaluation mode.

    Args:
        model: maps inputs to predictions.
        loss_fn: maps predictions and targets, in this order, to the mean loss of a batch.
        batches: pairs (inputs, targets).

    Returns:
        The mean loss, as a Python float.

    Raises:
        ValueError: there are no examples.
    """
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
