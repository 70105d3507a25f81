"""A running loss must not drag every batch along.

`train_epoch` trains on a loss and reports its mean, with that of a metric that nobody trains on:

    model = torch.nn.Linear(1, 1, bias=False)         # holds one weight; say that it is 2.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [(torch.tensor([[1.0]]), torch.tensor([[1.0]])),
               (torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [2.0]]))]
    train_epoch(model, mse_loss, l1_loss, optimizer, batches)     # about (1.4, 1.1333)
    # weight 2: loss 1, metric 1, one example; weight 1.8: losses 0.64 and 2.56, metrics 0.8 and 1.6

The code below has the right numbers, and runs out of memory in a long epoch: each sum is the tip of a graph that
reaches back to the first batch, and the metric's part, which no backward has freed, holds activations.

- The result is the pair (mean loss, mean metric) over all examples, as Python floats.
- When a batch is asked for, no graph is alive but those of the batch before.
- Each batch is one step by its loss alone, and the metric is of the predictions before it.

Fine print:
- `.item()` in each batch does the job. On a GPU each one makes Python wait until the GPU has caught up: add up tensors
  without their graphs, and make floats of them at the end.
- Inputs and predictions of a batch are let go as well, at the latest while the next one is worked on.
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
    """Take one step of `optimizer` for each batch; return the mean loss and metric over all examples."""
    total_loss, total_metric, count = 0.0, 0.0, 0
    for inputs, targets in batches:
        predictions = model(inputs)
        loss = loss_fn(predictions, targets)
        metric = metric_fn(predictions, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss * len(targets)
        total_metric += metric * len(targets)
        count += len(targets)
    return total_loss / count, total_metric / count
