"""The model: which way a half-painted picture has to go."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WAVES = 32


def waves(t: Tensor) -> Tensor:
    """What the model is told of the time: sines, then cosines, from quick ones to slow ones."""
    k = torch.arange(WAVES // 2) / (WAVES // 2)  # (waves / 2,)
    angles = 1000 * t.unsqueeze(1) * 10000.0**-k  # (size, waves / 2)
    return torch.cat([angles.sin(), angles.cos()], dim=1)  # (size, waves)


class Velocity(nn.Module):
    """The velocity of each row at its time, for the kind that it is to show; kind `none` is any."""

    def __init__(self, pixels: int, kinds: int, width: int, layers: int = 2, dropout: float = 0.0):
        super().__init__()
        self.pixels, self.none, self.dropout = pixels, kinds, dropout
        self.enter = nn.Linear(pixels, width)
        self.time = nn.Linear(WAVES, width)
        self.kind = nn.Embedding(kinds + 1, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.leave = nn.Linear(width, pixels)

    def forward(self, x: Tensor, t: Tensor, labels: Tensor) -> Tensor:
        h = self.enter(x) + self.time(waves(t)) + self.kind(labels)  # (size, width)
        for layer in self.layers:
            h = h + F.dropout(layer(F.silu(h)), self.dropout, self.training)  # (size, width)
        return self.leave(F.silu(h))  # (size, pixels)
