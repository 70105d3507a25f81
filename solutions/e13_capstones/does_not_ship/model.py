"""The network, and how it comes out of a checkpoint."""

from typing import Any

from torch import Tensor, nn


class Net(nn.Module):
    """Logits, (pictures, classes), of normalised pictures (pictures, 3, 12, 12)."""

    def __init__(self, classes: int = 4) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(3),
            nn.Flatten(),
            nn.Linear(72, 24),
            nn.ReLU(),
            nn.Dropout(0.3),
        )
        self.head = nn.Linear(24, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x))


def network(checkpoint: dict[str, Any]) -> Net:
    """The network of a checkpoint."""
    net = Net(len(checkpoint["labels"]))
    weights = {name.removeprefix("module."): value for name, value in checkpoint["model"].items()}
    net.load_state_dict(weights)
    return net
