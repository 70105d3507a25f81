from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class SGD(torch.optim.Optimizer):
    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        for name, value in (("lr", lr), ("momentum", momentum), ("weight_decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} must be zero or above, not {value}")
        if nesterov and not momentum:
            raise ValueError("nesterov needs a momentum")
        defaults = dict(lr=lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov)
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._move(p, p.grad, group)
        return result

    @torch.no_grad()
    def _move(self, p: Tensor, g: Tensor, group: dict[str, Any]) -> None:
        """Take the next step of one parameter."""
        mu = group["momentum"]
        if group["weight_decay"]:
            g = g.add(p, alpha=group["weight_decay"])
        if mu:
            state = self.state[p]
            if "velocity" not in state:
                state["velocity"] = torch.zeros_like(p)
            v = state["velocity"].mul_(mu).add_(g)
            g = g.add(v, alpha=mu) if group["nesterov"] else v
        p.add_(g, alpha=-group["lr"])
