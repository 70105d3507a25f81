import math
from collections import deque
from statistics import median
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Optimizer


class SpikeGuard:
    def __init__(self, window: int = 50, factor: float = 2.0) -> None:
        if window < 1 or factor <= 1:
            raise ValueError(f"want window from 1 on and factor above 1, not {window=} and {factor=}")
        self.factor = factor
        self.losses: deque[float] = deque(maxlen=window)

    def admits(self, loss: float | Float[Tensor, ""]) -> bool:
        loss = float(loss)
        if not math.isfinite(loss):
            return False
        full = len(self.losses) == self.losses.maxlen
        if full and loss > self.factor * median(self.losses):
            return False
        self.losses.append(loss)
        return True

    def state_dict(self) -> dict[str, Any]:
        return {"losses": list(self.losses)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.losses = deque(state["losses"], maxlen=self.losses.maxlen)


def guarded_step(model: nn.Module, optimizer: Optimizer, guard: SpikeGuard, loss: Float[Tensor, ""]) -> bool:
    model.zero_grad()  # what was left from before
    admitted = guard.admits(loss)
    if admitted:
        loss.backward()
        optimizer.step()
        model.zero_grad()
    return admitted
