"""Which parameters do not move, and why?

The loss falls, so nobody notices that one layer still has the numbers that it began with. `stuck_parameters` calls
train_step once, an ordinary step of training, and names each parameter that is the same after it, with the reason:

    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    model[0].weight.requires_grad_(False)
    optimizer = torch.optim.SGD([model[0].weight, model[2].weight], lr=0.1)

    def train_step():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    stuck_parameters(model, optimizer, train_step)
    # {"0.weight": "frozen", "0.bias": "not in optimizer", "2.bias": "not in optimizer"}

The reason is the first of these that is true:

    "frozen"            it does not require a gradient
    "not in optimizer"  no group of the optimizer holds it: this very tensor, not an equal one
    "no gradient"       its gradient is None
    "zero gradient"     all of its gradient is 0
    "zero rate"         the learning rate of its group is 0
    "lost"              none of these: rounded away, for example

- A parameter has moved if any of its numbers is another, by however little. Then it is not in the result, whatever else
  is true of it: weight decay moves what has a gradient of 0.

Fine print:
- Gradients and rates count as they are when the optimizer's step ends. train_step may clear the gradients after it, as
  PyTorch's quickstart does, or let a scheduler set the next rate. It may hand a closure to `optimizer.step`.
- Where train_step makes no step of this optimizer, the reason after "not in optimizer" is "no step".
- A gradient of 1e-30 is not 0, though its norm is, in float32.
- A NaN that stays NaN has not moved.
- train_step does what it would do alone: it finds gradients, modes and random streams as they were.
- Its errors come out. Afterwards, also after an error, no hook is left and no method replaced, on model or optimizer.
"""

from collections.abc import Callable

import torch
from torch import nn


def stuck_parameters(
    model: nn.Module, optimizer: torch.optim.Optimizer, train_step: Callable[[], object]
) -> dict[str, str]:
    """Take one training step; the reason by the name of the parameter, for those that did not move."""
    raise NotImplementedError
