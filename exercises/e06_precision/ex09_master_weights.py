"""Master weights: the model computes in 16 bits, the optimizer in float32.

In bfloat16, 1 - 0.001 is 1: a model that is trained in 16 bits alone stops learning as soon as its steps get
small. So each trainable parameter gets a master, a copy in float32. The optimizer moves the masters, and the
model gets them rounded:

    model = torch.nn.Linear(1, 1, bias=False, dtype=torch.bfloat16)      # one weight; say that it is 1.0
    training = MasterWeights(model, lambda masters: torch.optim.SGD(masters, lr=0.001))
    model.weight.grad = torch.tensor([[1.0]], dtype=torch.bfloat16)
    training.step()        # the master is 0.999, and the weight is still 1.0: after that comes 0.99609375
    training.step()        # the master is 0.998, and the weight is 0.99609375

Rules:
- `self.masters` is a list of float32 leaves that require gradients: one for each parameter of the model that
  requires gradients, in the order of `model.parameters()`, with its shape, device and values, and with memory
  of its own. This goes for bfloat16, float16 and float32 parameters, side by side, and for any default dtype
  of PyTorch. One that two layers share has one master; a frozen one has none and stays as it is.
- `self.optimizer` is what make_optimizer returns, called once with the list of masters. Options are read from
  it at every step, so that schedulers work.
- step(loss_scale) takes one step of the optimizer. A master's gradient is that of its parameter as it is now,
  in float32, divided by loss_scale. The quotient is computed in float32: in float16 it would vanish, or lose
  digits. Where `.grad` is None, so is the master's. Nothing adds up from step to step, and inf and NaN are
  used as they are.
- Then each of these parameters is its master, rounded to the nearest number of its dtype, in its own memory.
  Parameters remain the same leaves, in the same dtype. Their `.grad` is not changed. On a device nothing is
  copied to or from the host, and the host waits for nothing.
- zero_grad() sets `.grad` of the parameters that have a master to None. Others keep theirs.
- state_dict() is a dict of two entries: "masters", the list of their values, and "optimizer", the optimizer's
  state dict. load_state_dict(…) takes both over into the masters and the optimizer that are there, copies the
  masters, and writes them, rounded, into the model. A run that goes on from it, in a new model with a new
  optimizer, goes on as if it had not stopped. torch.load gives the dict back with weights_only=True.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class MasterWeights:
    """Trains a model in 16 bits by way of float32 copies of its parameters.

    Args:
        model: on its device, in its dtypes, and with its frozen parameters frozen.
        make_optimizer: builds the optimizer from the list of masters.
    """

    masters: list[Tensor]
    optimizer: torch.optim.Optimizer

    def __init__(
        self, model: nn.Module, make_optimizer: Callable[[list[Tensor]], torch.optim.Optimizer]
    ) -> None:
        raise NotImplementedError

    def step(self, loss_scale: float = 1.0) -> None:
        """Move masters and model by the gradients that the model holds.

        Args:
            loss_scale: what the loss was multiplied by before the backward pass.
        """
        raise NotImplementedError

    def zero_grad(self) -> None:
        """Let go of the model's gradients."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The masters and the optimizer's state."""
        raise NotImplementedError

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what state_dict returned."""
        raise NotImplementedError
