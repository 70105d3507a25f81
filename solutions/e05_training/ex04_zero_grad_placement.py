"""Between the backward and the step the gradients are alive: nobody may clear them there.

`train_epoch` takes one step for each batch. Before each step it calls `on_gradients`, where callers look at
the gradients, log or clip them:

    model = torch.nn.Linear(1, 1, bias=False)         # holds one weight; say that it is 2.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [(torch.tensor([[1.0]]), torch.tensor([[1.0]]))] * 2
    train_epoch(model, mse_loss, optimizer, batches, lambda: print(model.weight.grad))    # [1.0, 0.64]
    # (2 - 1)² = 1, prints 2, and the weight is 2 - 0.1 · 2 = 1.8; then (1.8 - 1)² = 0.64, 1.6, and 1.64

With the code below it prints None, and the loss stays at 1.0 for ever. With `zero_grad(set_to_none=False)` an
optimizer with weight decay even moved the weights, towards zero.

Rules:
- Each step uses the gradient of its own batch, and nothing else: not of earlier batches, not what lay in
  `.grad` before the call. This goes for all parameters that the optimizer holds, also from outside the model
  and in groups that on_gradients adds.
- A parameter of the optimizer that the loss of a batch does not depend on has None in `.grad` at that step.
- Only what the optimizer holds is cleared. Gradients of other parameters, which another optimizer will use,
  add up over the batches, on top of what is there.
- on_gradients, if given, is called without arguments, once for each batch, between backward and step: the
  gradients are complete, no weight has moved. What it does to `.grad`, also putting another tensor or None
  there, is what the step uses. If it raises an error, that comes through, and the weights do not move.
- Each batch runs once, in order: `loss_fn(model(inputs), targets)`, then one step. batches may be any
  iterable and may be empty. Training modes, learning rates and random streams are the caller's.
- The result holds the loss of each batch before its step, as Python floats. What the optimizer's parameters
  have in `.grad` after the last step is left open.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn


def train_epoch(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
    on_gradients: Callable[[], object] | None = None,
) -> list[float]:
    """Take one step of `optimizer` for each batch.

    Args:
        model: maps inputs to predictions.
        loss_fn: maps predictions and targets, in this order, to a loss without dimensions.
        optimizer: holds the parameters to move.
        batches: pairs (inputs, targets).
        on_gradients: called before each step, when the gradients are there.

    Returns:
        The loss of each batch.
    """
    losses = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        optimizer.zero_grad()  # before the backward, and to None: what gets no gradient stays where it is
        loss.backward()
        if on_gradients is not None:
            on_gradients()
        optimizer.step()
        losses.append(loss.item())
    return losses
