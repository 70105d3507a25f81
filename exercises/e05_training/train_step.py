"""One step of training: predict, compare, derive, move.

Every loop over batches turns around the same five lines. Write them once, for any model, loss and optimizer: move the
weights by one step of `optimizer`, with the gradient of `loss_fn(model(inputs), targets)`, and return this loss, the
one before the step, as a Python float.

    model = torch.nn.Linear(1, 1, bias=False)        # holds one weight; say that it is 2.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, targets = torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [2.0]])
    train_step(model, torch.nn.functional.mse_loss, optimizer, inputs, targets)   # 8.5
    # predictions 2 and 6, loss (1² + 4²) / 2 = 8.5, gradient 1·1 + 4·3 = 13, weight 2.0 - 0.1 · 13 = 0.7

- Each step goes by the gradient of its own batch. `backward` adds to what lies in `.grad`: clear it in every call.
- Model, loss_fn and `optimizer.step` run once in a call.
- Inputs may be tokens and targets class numbers: both are passed on as they are.

Fine print:
- Clear before the backward: then numbers that somebody else left in `.grad` have no influence either, and the gradients
  of this batch stay there for whoever logs them. (The quickstart clears after the step, which does the job.)
- Let the optimizer clear: it may hold parameters that the model does not, such as a temperature in loss_fn.
- A parameter that the loss does not depend on has None in `.grad`: zeros would let momentum and weight decay move it.
- Modes belong to the caller: a batch norm in evaluation mode runs, and stays, in evaluation mode.
- Call the model itself: `model.forward` skips hooks.
- Nothing else happens: no clipping, and no step left out where the loss is NaN.
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
    """Move what `optimizer` holds by one step on one batch; return the loss before it."""
    raise NotImplementedError
