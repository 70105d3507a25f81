"""Train in training mode, validate in evaluation mode, and switch each time.

Dropout and batch norm do one thing while a network learns and another while it is judged. `fit` measures the
validation loss of the model as it comes, and again after each epoch:

    model = torch.nn.BatchNorm1d(1, momentum=0.5)                           # running mean 0, variance 1
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)                 # weights stay, statistics do not
    train = [(torch.tensor([[0.0], [4.0]]), torch.zeros(2, 1))]             # mean 2, variance 8
    val = [(torch.tensor([[1.0]]), torch.zeros(1, 1))]
    fit(model, mse_loss, optimizer, train, val, epochs=2)                   # about [1, 0, 0.04]
    # before: ((1 - 0) / √1)² = 1;  after an epoch, mean 1 and variance 4.5: ((1 - 1) / √4.5)² = 0;
    # after another, mean 1.5 and variance 6.25: ((1 - 1.5) / √6.25)² = 0.04

The code below stops with "Expected more than 1 value per channel when training", though it is validating.
With larger validation batches it runs, but with dropout the first loss is another at each try, and from the
second epoch on the model overfits as if the dropout were gone.

Rules:
- Whatever mode the model comes in: each training batch, in every epoch, runs in training mode, and each
  validation batch in evaluation mode.
- Modes are switched for the whole model, by its methods `train` and `eval`. A model may override `train` to
  keep a frozen layer in evaluation mode for ever: it must have its way.
- When fit returns, the model is in evaluation mode, ready for use, also for 0 epochs.
- Training: for each batch, in order, one step of the optimizer with the gradient of loss_fn(model(inputs),
  targets), old gradients cleared. Validating records no graph, changes no tensor (nor which parameters are
  frozen) and runs each batch once. No epoch is left out, whatever the losses are; a NaN is reported.
- fit itself draws no random number and seeds nothing. An error of the model or of loss_fn comes through, and
  leaves it as it was before whether gradients are recorded.
- A validation loss is the mean over all examples: loss_fn gives the mean of a batch, the last one may be
  shorter, and a batch has len(targets) examples, at least one.
- train_batches and val_batches hold pairs (inputs, targets). They can be gone through again and again; a
  loader that shuffles gives another order each time.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

LossFn = Callable[[Tensor, Tensor], Tensor]
Batches = Iterable[tuple[Tensor, Tensor]]


def fit(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: torch.optim.Optimizer,
    train_batches: Batches,
    val_batches: Batches,
    epochs: int,
) -> list[float]:
    """Train for some epochs, and validate before the first and after each.

    Args:
        model: maps inputs to predictions.
        loss_fn: maps predictions and targets to the mean loss of a batch, without dimensions.
        optimizer: holds the parameters to move.
        train_batches: what to learn from.
        val_batches: what to judge by, one batch or more.
        epochs: how many times to go through train_batches, 0 or more.

    Returns:
        The validation losses as Python floats, epochs + 1 of them.
    """
    history = [_mean_loss(model, loss_fn, val_batches)]
    model.train()
    for _ in range(epochs):
        for inputs, targets in train_batches:
            optimizer.zero_grad()
            loss_fn(model(inputs), targets).backward()
            optimizer.step()
        model.eval()
        history.append(_mean_loss(model, loss_fn, val_batches))
    return history


@torch.no_grad()
def _mean_loss(model: nn.Module, loss_fn: LossFn, batches: Batches) -> float:
    """The mean loss over all examples."""
    total, count = 0.0, 0
    for inputs, targets in batches:
        total += loss_fn(model(inputs), targets).item() * len(targets)
        count += len(targets)
    return total / count
