from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class LossScaler:
    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
    ) -> None:
        self._scale = init_scale
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._good = growth_interval, 0
        self._finite: dict[torch.optim.Optimizer, Tensor | bool] = {}  # those unscaled in this iteration
        self._stepped: set[torch.optim.Optimizer] = set()

    def get_scale(self) -> float:
        return self._scale

    def scale(self, loss: Float[Tensor, ""]) -> Float[Tensor, ""]:
        wide = torch.promote_types(loss.dtype, torch.float32)
        return loss.to(wide) * self._scale

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        if optimizer in self._finite:
            raise RuntimeError("unscale_ comes once for each optimizer, and before its step")
        params = [p for group in optimizer.param_groups for p in group["params"]]
        gradients = [p.grad for p in params if p.grad is not None]
        if any(g.dtype == torch.float16 for g in gradients):
            raise ValueError("float16 gradients vanish when unscaled: keep parameters in float32")
        flags = [torch.isfinite(g).all() for g in gradients]  # not of a sum, which can overflow
        with torch.no_grad():
            for g in gradients:
                g.div_(self._scale)
        self._finite[optimizer] = torch.stack(flags).all() if flags else True  # still on the device

    def step(self, optimizer: torch.optim.Optimizer) -> bool:
        if optimizer in self._stepped:
            raise RuntimeError("this optimizer has been stepped since the last update")
        if optimizer not in self._finite:
            self.unscale_(optimizer)
        self._stepped.add(optimizer)
        finite = self._finite[optimizer] = bool(self._finite[optimizer])  # here the host waits
        if finite:
            optimizer.step()
        return finite

    def update(self) -> None:
        if all(self._finite.values()):
            self._good += 1
            if self._good == self._growth_interval:
                self._good = 0
                self._scale *= self._growth_factor
        else:
            self._good = 0
            self._scale *= self._backoff_factor
        self._finite, self._stepped = {}, set()

    def state_dict(self) -> dict[str, Any]:
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._good,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._good = state_dict["_growth_tracker"]
