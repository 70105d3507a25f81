"""Master weights: the model computes in 16 bits, the optimizer in float32.

In bfloat16, 1 - 0.001 is 1: a model that is trained in 16 bits alone stops learning as soon as its steps get small. So
each parameter gets a master, a copy in float32. The optimizer moves masters, and the model gets them rounded:

    model = torch.nn.Linear(1, 1, bias=False, dtype=torch.bfloat16)      # one weight; say that it is 1.0
    training = MasterWeights(model, lambda masters: torch.optim.SGD(masters, lr=0.001))
    model.weight.grad = torch.tensor([[1.0]], dtype=torch.bfloat16)
    training.step()        # the master is 0.999, and the weight is still 1.0: after that comes 0.99609375
    training.step()        # the master is 0.998, and the weight is 0.99609375

- `self.masters` is their list, in the order of `model.parameters()`; `self.optimizer` is made of it, once.
- step gives each master its parameter's gradient of now, in float32 and then divided by loss_scale. The optimizer
  steps, and each parameter becomes its master, rounded.
- zero_grad clears the model's gradients.
- A run that loads another's state_dict into a new model goes on as if nothing had stopped.

Fine print:
- Frozen parameters have no master. One in float32 has a master with memory of its own.
- Where `.grad` is None, the master's is None: momentum and decay leave it alone. zero_grad sets it to None.
- step leaves the model's gradients as they are, also where somebody clips those of the masters.
- The parameters stay the same objects, in the memory that they have: others may look at it.
- state_dict has two entries: "masters", a list of tensors, and "optimizer". torch.load reads it with weights_only=True.
- load_state_dict copies: training on changes nothing of the dict, also not the state of the optimizer in it.
- On a device masters are there, too; step copies nothing to or from the host, which waits for nothing.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class MasterWeights:
    """Trains a model in 16 bits by way of float32 copies of its parameters."""

    masters: list[Tensor]
    optimizer: torch.optim.Optimizer

    def __init__(
        self, model: nn.Module, make_optimizer: Callable[[list[Tensor]], torch.optim.Optimizer]
    ) -> None:
        raise NotImplementedError

    def step(self, loss_scale: float = 1.0) -> None:
        """Move masters and model by the model's gradients, of a loss that was multiplied by `loss_scale`."""
        raise NotImplementedError

    def zero_grad(self) -> None:
        """Clear the model's gradients."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The masters and the optimizer's state."""
        raise NotImplementedError

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what state_dict returned."""
        raise NotImplementedError
