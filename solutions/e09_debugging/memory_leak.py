from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class Trainer:
    def __init__(
        self,
        model: nn.Module,
        loss_fn: Callable[[Tensor, Tensor], Tensor],
        optimizer: torch.optim.Optimizer,
        window: int = 100,
    ) -> None:
        self.model, self.loss_fn, self.optimizer, self.window = model, loss_fn, optimizer, window
        self.losses: deque[float] = deque(maxlen=window)
        self.samples: deque[Tensor] = deque(maxlen=window)
        self.smoothed: float | None = None
        self.activity: dict[str, float] = {}

    def step(self, inputs: Tensor, targets: Tensor) -> float:
        self.activity = {}
        handles = [
            layer.register_forward_hook(self._watch(name))
            for name, layer in self.model.named_modules()
            if not list(layer.children())
        ]
        try:
            outputs = self.model(inputs)  # (batch, …)
        finally:
            for handle in handles:
                handle.remove()
        loss = self.loss_fn(outputs, targets)  # ()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        value = loss.item()
        self.losses.append(value)
        self.samples.append(outputs[0].detach().clone())  # a row by itself: a view would hold the whole batch
        self.smoothed = value if self.smoothed is None else 0.9 * self.smoothed + 0.1 * value
        return value

    def report(self) -> dict[str, Any]:
        return {
            "losses": list(self.losses),
            "smoothed": self.smoothed,
            "activity": dict(self.activity),
            "samples": [row.clone() for row in self.samples],
        }

    def _watch(self, name: str) -> Callable[..., None]:
        def hook(layer: nn.Module, inputs: Any, output: Any) -> None:
            if isinstance(output, Tensor):
                self.activity[name] = output.detach().abs().mean().item()

        return hook
