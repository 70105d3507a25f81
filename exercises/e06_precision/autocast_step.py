"""A step under autocast: the forward pass in 16 bits, the weights in float32.

In a `torch.autocast` region, linear layers and convolutions compute in 16 bits: on a GPU several times as fast. Take
one training step, but run the model in such a region, for the type of device that inputs lie on. Return the
loss before the step, as a float.

    model = torch.nn.Linear(1, 1, bias=False)        # holds one weight; say that it is 257.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    inputs, targets = torch.tensor([[1.0]]), torch.tensor([[0.5]])
    autocast_step(model, torch.nn.functional.l1_loss, optimizer, inputs, targets)   # 255.5
    # bfloat16 has no 257: the prediction is 256, the loss 255.5. The gradient is 1, the weight 257 - 0.5 · 1 = 256.5.

- Do not convert the model: weights, gradients and the optimizer's state stay in float32.
- Call loss_fn in the region, as PyTorch's recipe does, or after it, with predictions in float32.
- Each step goes by the gradient of its own batch. No clipping, and no GradScaler yet.

Fine print:
- A loss_fn of your own, with a product of matrices say, computes in float32, too: so call it after the region, with
  `predictions.float()`. (The recipe is for PyTorch's own losses, which autocast runs in float32.)
- Backward and step stand outside: each operation of the backward has the dtype of its forward by itself.
- On another device the host waits once: for the float.
- A dtype other than bfloat16 and float16 raises ValueError, before the model runs: autocast would only warn.
- Numbers left in `.grad` have no influence, and this batch's gradients stay there; the model runs
  once, with its hooks, in the mode it is in.
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
    """Move what `optimizer` holds by one step, with the forward pass in `dtype`; return the loss before it."""
    raise NotImplementedError
