"""A gradient scaler beside clipping: the order decides what max_norm means.

Small gradients vanish in float16, so the loss is scaled up for the backward pass. `scaled_step` makes such a step and
clips its gradients. But the log shows norms in the thousands, and nothing seems to learn:

    model = torch.nn.Linear(1, 1, bias=False)              # holds one weight; say that it is 2.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    inputs, targets = torch.tensor([[1.0]]), torch.tensor([[1.0]])
    scaled_step(model, torch.nn.functional.mse_loss, optimizer, scaler, inputs, targets, max_norm=0.5)
    # should be (1.0, 2.0), and the weight 2 - 0.1 · 0.5 = 1.95: the gradient 2 is clipped to 0.5
    # is (1.0, 2048.0), and the weight 1.99995

Repair it, so that

- max_norm and the norm that comes back are about gradients without the scale. Loss and step do not depend on the scale.
- the norm is that of all gradients together, before clipping. Loss and norm are floats.
- where a gradient overflows, there is no step and no error. The scaler is updated once in each call, step or not.
- the model still runs in float16 under autocast.

Fine print:
- The optimizer's parameters count, over all of its groups: some may be outside the model, and some of the model's not in
  the optimizer. (The recipe clips `model.parameters()`: that is the same in most training loops.)
- A parameter that the loss does not depend on has None in `.grad` at the step, and numbers that lie in `.grad` before the
  first call do not count.
- With a scaler that is off (`enabled=False`) it is a clipped step without scaling, whatever overflows.
- On another device it is the same.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def scaled_step(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    inputs: Tensor,
    targets: Tensor,
    max_norm: float = 1.0,
) -> tuple[float, float]:
    """Take one clipped step in float16, unless a gradient overflows; return the loss, and the norm before clipping."""
    optimizer.zero_grad()
    with torch.autocast(inputs.device.type, dtype=torch.float16):
        predictions = model(inputs)
    loss = loss_fn(predictions.float(), targets)
    scaler.scale(loss).backward()
    params = [p for group in optimizer.param_groups for p in group["params"]]
    norm = nn.utils.clip_grad_norm_(params, max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item(), norm.item()
