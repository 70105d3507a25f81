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

The code below stops with "Expected more than 1 value per channel when training", though it is validating. With larger
validation batches it runs, but with dropout the first loss is another at each try, and from the second epoch on the
dropout is gone.

- Each training batch of every epoch runs in training mode, whatever mode the model comes in.
- Each validation batch runs in evaluation mode, the first ones too.

Fine print:
- When fit returns, the model is in evaluation mode, ready for use, also after 0 epochs. (nanoGPT switches back to
  training mode after each validation: that does the job.)
- Switch with the model's own `train()` and `eval()`: a model may override `train`, to keep a frozen batch norm in
  evaluation mode for ever.
- Layers may come in another mode than `model.training` says.
- Validating records no graph, and each loss is the mean over all examples, as below.
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
    """Train for some epochs; return the validation losses before the first and after each."""
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
