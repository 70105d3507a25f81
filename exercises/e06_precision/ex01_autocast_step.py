"""A training step in mixed precision: the forward pass under autocast, all else in float32.

Inside a `torch.autocast` region, matrix products and convolutions run in 16 bits: on a GPU several times
as fast. Which other operations join them differs from device to device, and a loss is where it hurts: a
softmax or a sum over a long row needs more than the 8 binary digits of bfloat16.

    model = torch.nn.Linear(1, 1, bias=False)        # holds one weight; say that it is 257.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    inputs, targets = torch.tensor([[1.0]]), torch.tensor([[0.5]])
    autocast_step(model, torch.nn.functional.l1_loss, optimizer, inputs, targets)   # 255.5
    # bfloat16 has no 257: the prediction is 256.0. The loss is 255.5, which bfloat16 could not hold either.
    # The gradient is 1.0 and the weight 256.5 afterwards: it stays in float32.

Rules:
- The model runs in a `torch.autocast` region in dtype, for the type of device on which inputs lie: "cpu"
  and "cuda" as well as any other that autocast knows. The region covers the model and nothing else:
  loss_fn, the backward pass and `optimizer.step` run outside.
- The model is called as a module, hooks and all, in the mode that it is in, gets inputs as they are, and
  returns one floating tensor of any dtype. loss_fn gets this converted to float32, and targets as they are,
  in any dtype.
- The model is not converted: parameters, gradients and the optimizer's state stay in float32.
- Model, loss_fn and `optimizer.step` run once in a call, also where the loss is inf or NaN. No clipping and
  no gradient scaler. Gradients that lie in `.grad` beforehand have no influence; afterwards `.grad` holds
  those of this batch, and is None where the loss does not depend on a parameter (unused or frozen):
  momentum and weight decay then leave it alone.
- The result is a plain Python float, the loss before the update, with all its digits. Reading it is the one
  time that the host waits for the device.
- Afterwards autocast is as it was before the call, also where the model or loss_fn raises. Nothing more is
  asked for where the caller has a region open.

Bad input: a dtype other than torch.bfloat16 and torch.float16 raises ValueError, before the model runs.
(Autocast itself only warns, and runs in float32.)
"""

from collections.abc import Callable

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def autocast_step(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    inputs: Shaped[Tensor, "batch *features"],
    targets: Shaped[Tensor, "batch *labels"],
    dtype: torch.dtype = torch.bfloat16,
) -> float:
    """Move the parameters of `model` by one step on one batch, with the forward pass in `dtype`.

    Args:
        model: float32 parameters, on the device of inputs.
        loss_fn: maps float32 predictions and targets, in this order, to a loss without dimensions.
        optimizer: holds the model's parameters.
        inputs: the batch, (batch, *features).
        targets: what should come out, (batch, *labels).
        dtype: what autocast computes in, torch.bfloat16 or torch.float16.

    Returns:
        The loss of the batch before the update.

    Raises:
        ValueError: dtype is another one.
    """
    raise NotImplementedError
