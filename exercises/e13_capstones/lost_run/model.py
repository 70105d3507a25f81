"""A small classifier with dropout, and the running average of its weights."""

import torch
from torch import Tensor, nn

from .data import CLASSES, FEATURES


class Net(nn.Module):
    """Scores for six classes, (rows, CLASSES)."""

    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Linear(hidden, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x))


class Average:
    """An exponential moving average of a model's weights, by their names in `weights`."""

    def __init__(self, model: nn.Module, decay: float = 0.9) -> None:
        self.decay = decay
        self.weights = {name: value.clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for name, value in model.state_dict().items():
            self.weights[name].lerp_(value, 1 - self.decay)

    def state_dict(self) -> dict[str, Tensor]:
        return {name: value.clone() for name, value in self.weights.items()}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        self.weights = {name: value.clone() for name, value in state.items()}


def renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights under the names of today: the head was once called `out`."""
    return {name.replace("out.", "head."): value for name, value in weights.items()}
