import math
from typing import Any

from torch import Tensor


class EarlyStopping:
    def __init__(self, patience: int, min_delta: float = 0.0, mode: str = "min") -> None:
        if patience < 1 or not min_delta >= 0.0:
            raise ValueError(
                f"want a patience of 1 or more and a min_delta from 0, not {patience}, {min_delta}"
            )
        if mode not in ("min", "max"):
            raise ValueError(f'mode must be "min" or "max", not {mode!r}')
        self.patience, self.min_delta = patience, min_delta
        self.sign = 1.0 if mode == "min" else -1.0
        self.best: float = self.sign * math.inf
        self.best_epoch: int | None = None
        self.improved, self.waited, self.epoch = False, 0, 0

    def step(self, value: float | Tensor) -> bool:
        value = float(value)
        # any comparison with NaN is False: it is no gain
        self.improved = self.sign * value < self.sign * self.best - self.min_delta
        if self.improved:
            self.best, self.best_epoch, self.waited = value, self.epoch, 0
        else:
            self.waited += 1
        self.epoch += 1
        return self.waited >= self.patience

    def state_dict(self) -> dict[str, Any]:
        names = ("best", "best_epoch", "improved", "waited", "epoch")
        return {name: getattr(self, name) for name in names}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
