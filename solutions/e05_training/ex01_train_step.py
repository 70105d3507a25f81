"""One step of training: predict, compare, derive, move.

Every loop over batches turns around the same five lines. Write them for any model, loss and optimizer:

    model = torch.nn.Linear(1, 1, bias=False)        # holds one weight; say that it is 2.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, targets = torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [2.0]])
    train_step(model, torch.nn.functional.mse_loss, optimizer, inputs, targets)   # 8.5
    # predictions 2 and 6, loss (1² + 4²) / 2 = 8.5, gradient 1·1 + 4·3 = 13, weight 2.0 - 0.1 · 13 = 0.7

Rules:
- The loss is `loss_fn(model(inputs), targets)`. Inputs, targets and what the model returns (a tensor of any
  shape and dtype, or a tuple) are passed on as they are, on the device where they are.
- Model, loss_fn and `optimizer.step` run once in a call. Call the model itself: `forward` skips hooks.
  The optimizer decides how weights move; it may be any in `torch.optim` whose step needs no closure (all
  but LBFGS), with several groups.
- Gradients that lie in `.grad` beforehand have no influence. This goes for all that the optimizer holds,
  also from outside the model, such as a temperature in loss_fn.
- When train_step returns, each parameter of the optimizer has the gradient of this batch in `.grad`, for
  whoever logs it. Where the loss does not depend on a parameter (unused, or frozen by
  `requires_grad=False`), its `.grad` is None: momentum and weight decay then leave it alone. The loss
  depends on one at least. What becomes of gradients that the optimizer does not hold is left open.
- Modes belong to the caller: a batch norm in eval mode runs, and stays, in eval mode.
- Nothing else happens: no clipping, no printing, and no skipped step where the loss is inf or NaN.
- The result is a plain Python float, the loss before the update, with all its digits. Reading it is the
  one time that the host waits for the device. The graph and its activations are free again when the
  optimizer has stepped, and nothing keeps the predictions or the loss alive once train_step has returned.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def train_step(
    model: nn.Module,
    loss_fn: Callable[[Any, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    inputs: Shaped[Tensor, "batch *features"],
    targets: Shaped[Tensor, "batch *labels"],
) -> float:
    """Move the parameters that `optimizer` holds by one step on one batch.

    Args:
        model: maps inputs to predictions.
        loss_fn: maps predictions and targets, in this order, to a loss without dimensions.
        optimizer: holds the parameters to move.
        inputs: the batch, (batch, *features).
        targets: what should come out, (batch, *labels).

    Returns:
        The loss of the batch before the update.
    """
    loss = loss_fn(model(inputs), targets)  # ()
    optimizer.zero_grad()  # to None, so that what gets no gradient stays where it is
    loss.backward()  # fills .grad of every parameter, and frees the activations
    optimizer.step()
    return loss.item()  # last: the host waits here for everything above
