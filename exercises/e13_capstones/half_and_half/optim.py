"""Adam for weights in half precision, clipping, and the learning rate."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


class Adam:
    """Adam in float32: it keeps masters of the weights, and sums of their gradients in `grads`."""

    def __init__(self, params: Iterable[nn.Parameter], lr: float = 0.01) -> None:
        self.params, self.lr, self.steps = list(params), lr, 0
        self.masters = [p.detach().float().clone() for p in self.params]
        self.grads = [torch.zeros_like(master) for master in self.masters]
        self.means = [torch.zeros_like(p) for p in self.params]
        self.squares = [torch.zeros_like(p) for p in self.params]

    def zero(self) -> None:
        """Forget all gradients."""
        for p, grad in zip(self.params, self.grads, strict=True):
            p.grad = None
            grad.zero_()

    def collect(self) -> None:
        """Add the gradients of a backward to `grads`."""
        for p, grad in zip(self.params, self.grads, strict=True):
            if p.grad is not None:
                grad.add_(p.grad)
                p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move the masters along `grads`, and hand the weights to the model."""
        self.steps += 1
        every = zip(self.params, self.masters, self.grads, self.means, self.squares, strict=True)
        for p, master, grad, mean, square in every:
            mean.mul_(0.9).add_(0.1 * grad)
            square.mul_(0.99).add_(0.01 * grad * grad)
            size = (square / (1 - 0.99**self.steps)).sqrt() + 1e-8
            change = self.lr * mean / (1 - 0.9**self.steps) / size
            master.sub_(change)
            p.copy_(master)

    def state_dict(self) -> dict[str, Any]:
        """All that a run needs to go on, apart from scale and schedule."""
        weights = [p.detach().clone() for p in self.params]
        means, squares = [m.clone() for m in self.means], [s.clone() for s in self.squares]
        return {"weights": weights, "means": means, "squares": squares, "steps": self.steps, "lr": self.lr}

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.steps, self.lr = state["steps"], state["lr"]
        for name, kept in (("weights", self.masters), ("means", self.means), ("squares", self.squares)):
            for own, value in zip(kept, state[name], strict=True):
                own.copy_(value)
        for p, master in zip(self.params, self.masters, strict=True):
            p.copy_(master)


def clip(grads: list[Tensor], max_norm: float) -> None:
    """Shrink gradients, in place, so that the norm of all together is no more than max_norm."""
    norm = torch.cat([grad.flatten() for grad in grads]).norm()
    for grad in grads:
        grad.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))


class Schedule:
    """The learning rate, by the updates that were taken: up on a line, then down on a line."""

    def __init__(self, optimizer: Adam, peak: float, warmup: int, total: int) -> None:
        self.optimizer, self.peak, self.warmup, self.total = optimizer, peak, warmup, total
        self.taken = -1
        self.step()

    def step(self) -> None:
        """Go on to the learning rate of the next update."""
        self.taken += 1
        up = (self.taken + 1) / self.warmup
        down = (self.total - self.taken) / max(1, self.total - self.warmup)
        self.optimizer.lr = self.peak * max(0.0, min(up, down, 1.0))
