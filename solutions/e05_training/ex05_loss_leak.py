"""A running loss must not drag every batch along.

`train_epoch` trains on a loss and reports its mean, with that of a metric that nobody trains on:

    model = torch.nn.Linear(1, 1, bias=False)         # holds one weight; say that it is 2.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [(torch.tensor([[1.0]]), torch.tensor([[1.0]])),
               (torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [2.0]]))]
    train_epoch(model, mse_loss, l1_loss, optimizer, batches)     # about (1.4, 1.1333)
    # weight 2: loss 1, metric 1, one example; weight 1.8: losses 0.64 and 2.56, metrics 0.8 and 1.6

The code below has the right numbers in its tensors, and runs out of memory in a long epoch: 300 MB more after
a hundred batches, 600 MB after two hundred. Each sum is the tip of a graph that reaches back to the first
batch, and the metric's part of it, which no backward has freed, holds its activations.

Rules:
- The result is the pair (mean loss, mean metric) over all examples, as Python floats. loss_fn and metric_fn
  give means over a batch without dimensions, from the predictions before the step; a batch has len(targets)
  examples. Sums are kept in the dtype of the losses and metrics or a wider one. NaN and inf come through.
- When a batch is asked for, at most the batch before it is still held, with its graph: its activations, its
  predictions, its loss and metric, and the memory of these, which `detach` shares: what `mse_loss` returns
  can be one number in the memory of a whole batch. When train_epoch returns nothing of any batch is held.
- The host waits for the device at the end of the epoch only, at most once for each of the two numbers.
  (`.item()` in each batch would cure the leak, and make the device stand still.)
- Each batch runs once, in order, and the optimizer takes one step for it, with the gradient of its loss
  alone. The metric has no influence on the step. It may or may not carry a graph. What loss_fn and
  metric_fn return is theirs, and is not changed.
- batches may be any iterable, also a generator, of one batch or more; none is empty. Training modes and
  random streams are the caller's.
"""

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
    """Take one step of `optimizer` for each batch.

    Args:
        model: maps inputs to predictions.
        loss_fn: maps predictions and targets, in this order, to the mean loss of the batch.
        metric_fn: maps them to the mean of something else.
        optimizer: holds the parameters to move.
        batches: pairs (inputs, targets).

    Returns:
        The mean loss and the mean metric over all examples.
    """
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
