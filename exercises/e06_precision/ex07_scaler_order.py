"""A gradient scaler beside clipping: the order decides what max_norm means.

float16 ends at 65504 and fades away below 6e-8. So the loss is scaled up before the backward pass, and the
gradients are scaled down again before anybody looks at them. `scaled_step` does this, clips, and steps:

    model = torch.nn.Linear(1, 1, bias=False)              # holds one weight; say that it is 2.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    inputs, targets = torch.tensor([[1.0]]), torch.tensor([[1.0]])
    scaled_step(model, torch.nn.functional.mse_loss, optimizer, scaler, inputs, targets, max_norm=0.5)
    # (1.0, 2.0): the loss is (2 - 1)², the gradient 2. Clipped to 0.5, it moves the weight to 1.95.

The code below returns (1.0, 2048.0), and leaves the weight at 1.99995: the log shows norms in the thousands
or millions, nothing seems to learn, and a larger scale makes it worse.

Rules:
- The norm is that of all gradients of the optimizer's parameters together, over all of its groups, unscaled,
  in float32, before clipping. Where it is larger than max_norm, they are multiplied by max_norm / norm; else
  they are used as they are. max_norm is above 0 and may be inf.
- Gradients of parameters that the optimizer does not hold take no part. A parameter of the optimizer that
  the loss does not depend on has None in `.grad` at the step. Old gradients have no influence.
- Loss, norm and step are the same for every scale that is a power of two, as long as nothing overflows or
  underflows. Gradients that only the scale lifts above 6e-8 arrive.
- Where a scaled gradient is inf or NaN, no step is taken: parameters and the optimizer's state stay as they
  were. The norm that comes back is then inf or NaN, and no error is raised.
- The scaler is updated once in a call, after a step as well as after one that was skipped: it backs off and
  grows by itself. A scaler with `enabled=False` leaves a clipped step without scaling, and is no error.
- As it stands: the model runs once, in the mode that it is in, under autocast in float16 for the type of
  device of inputs; loss_fn runs once, on float32 predictions, outside the region. Both stay as they are.
- The result is the loss before the step and the norm, as Python floats, neither of them scaled. What lies in
  `.grad` afterwards is left open.
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
    """Take one clipped step in float16 on one batch, unless a gradient overflows.

    Args:
        model: float32 parameters, on the device of inputs.
        loss_fn: maps float32 predictions and targets, in this order, to a loss without dimensions.
        optimizer: holds the parameters to move, in one or several groups.
        scaler: scales the loss; used by nobody else during the call.
        inputs: the batch, (batch, *features).
        targets: what should come out, (batch, *labels).
        max_norm: the largest norm that the gradients of a step may have.

    Returns:
        The loss, and the norm of the gradients before clipping.
    """
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
