from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class AdamW(torch.optim.Optimizer):
    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        for name, value in (("lr", lr), ("eps", eps), ("weight_decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} must be zero or above, not {value}")
        if not all(0.0 <= beta < 1.0 for beta in betas):
            raise ValueError(f"betas must be in [0, 1), not {betas}")
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

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
        """Take the next step of one parameter."""
        state = self.state[p]
        if not state:  # its first gradient
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        m, v, lr = state["exp_avg"], state["exp_avg_sq"], group["lr"]
        beta1, beta2 = group["betas"]
        state["step"] += 1
        p.mul_(1 - lr * group["weight_decay"])
        m.lerp_(grad, 1 - beta1)
        v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        root = (v / (1 - beta2 ** state["step"])).sqrt_().add_(group["eps"])
        p.addcdiv_(m, root, value=-lr / (1 - beta1 ** state["step"]))
