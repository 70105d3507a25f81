import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class MasterWeights:
    masters: list[Tensor]
    optimizer: torch.optim.Optimizer

    def __init__(
        self, model: nn.Module, make_optimizer: Callable[[list[Tensor]], torch.optim.Optimizer]
    ) -> None:
        self._params = [p for p in model.parameters() if p.requires_grad]
        self.masters = [p.detach().clone().float().requires_grad_() for p in self._params]
        self.optimizer = make_optimizer(self.masters)

    def step(self, loss_scale: float = 1.0) -> None:
        for p, master in zip(self._params, self.masters, strict=True):
            master.grad = None if p.grad is None else p.grad.float() / loss_scale
        self.optimizer.step()
        self._round()

    def zero_grad(self) -> None:
        for p in self._params:
            p.grad = None

    def state_dict(self) -> dict[str, Any]:
        masters = [master.detach() for master in self.masters]
        return {"masters": masters, "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        with torch.no_grad():
            for master, value in zip(self.masters, state_dict["masters"], strict=True):
                master.copy_(value)
        self.optimizer.load_state_dict(copy.deepcopy(state_dict["optimizer"]))  # steps write to it
        self._round()

    @torch.no_grad()
    def _round(self) -> None:
        for p, master in zip(self._params, self.masters, strict=True):
            p.copy_(master)  # rounds to the nearest
