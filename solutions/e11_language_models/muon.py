from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class Muon(torch.optim.Optimizer):
    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 0.02,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon moves matrices, not a parameter of shape {tuple(p.shape)}")

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
    def _move(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        """Take the next step of one matrix."""
        state, momentum = self.state[p], group["momentum"]
        if not state:  # its first gradient
            state["momentum_buffer"] = torch.zeros_like(p)
        m = state["momentum_buffer"]
        m.mul_(momentum).add_(grad)
        update = self._orthogonalised(grad.add(m, alpha=momentum))
        rows, columns = p.shape
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.add_(update, alpha=-group["lr"] * max(1, rows / columns) ** 0.5)

    @staticmethod
    def _orthogonalised(u: Tensor) -> Tensor:
        """A matrix with the singular vectors of u and singular values near 1."""
        tall = u.shape[0] > u.shape[1]
        x = u.T if tall else u
        x = x / (x.norm() + 1e-7)  # (short, long)
        for _ in range(5):
            a = x @ x.T  # (short, short)
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
        return x.T if tall else x
