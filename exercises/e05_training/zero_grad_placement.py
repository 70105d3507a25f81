"""Between the backward and the step the gradients are alive: nobody may clear them there.

`train_epoch` takes one step for each batch. Before each step it calls `on_gradients`, where callers look at the
gradients, log or clip them:

    model = torch.nn.Linear(1, 1, bias=False)         # holds one weight; say that it is 2.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [(torch.tensor([[1.0]]), torch.tensor([[1.0]]))] * 2
    train_epoch(model, mse_loss, optimizer, batches, lambda: print(model.weight.grad))    # [1.0, 0.64]
    # (2 - 1)² = 1, prints 2, and the weight is 2 - 0.1 · 2 = 1.8; then (1.8 - 1)² = 0.64, 1.6, and 1.64

With the code below it prints None, and the loss stays at 1.0 for ever. With `zero_grad(set_to_none=False)` an optimizer
with weight decay even moved the weights, towards zero.

- Each step uses the gradient of its own batch, and nothing of the batches before.
- on_gradients, if given, is called once for each batch, between backward and step: the gradients are complete, no
  weight has moved.
- What on_gradients makes of the gradients is what the step uses.

Fine print:
- What lies in `.grad` before the call has no influence: clear before the backward. (The quickstart clears after the
  step. That does the job, as long as nothing lies there.)
- Only what the optimizer holds is cleared. Others add up, for another optimizer: `model.zero_grad()` clears too much.
- A parameter that the loss of a batch does not depend on has None in `.grad` at that step: with zeros there, momentum
  and weight decay would move it.
- An error in on_gradients comes through, and the weights do not move.
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
    """Take one step of `optimizer` for each batch; return the loss of each batch before its step."""
    losses = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        optimizer.zero_grad()
        if on_gradients is not None:
            on_gradients()
        optimizer.step()
        losses.append(loss.item())
    return losses
