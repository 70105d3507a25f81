"""A small classifier of recordings, for weights and activations in half precision."""

import math

import torch
from torch import Tensor, nn

from .data import CLASSES, FEATURES


class Norm(nn.Module):
    """Each reading divided by the root of its mean square, times a weight; RMSNorm."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x: Tensor) -> Tensor:
        size = x.float().square().mean(dim=-1, keepdim=True)  # (..., 1)
        return (x * (size + 1e-5).rsqrt()).to(x.dtype) * self.weight


def phases(seconds: Tensor) -> Tensor:
    """Sine and cosine of where seconds (rows,) are in periods of 4, 8, 16 and 32; (rows, 8), in half."""
    angles = 2 * math.pi * seconds.float().unsqueeze(-1) / torch.tensor([4.0, 8.0, 16.0, 32.0])  # (rows, 4)
    return torch.cat([angles.sin(), angles.cos()], dim=-1).half()


def attend(h: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    """The mean of h (rows, time, width), weighed by the softmax of scores (rows, time); and the weights."""
    weights = scores.softmax(dim=-1)  # (rows, time)
    return (weights.unsqueeze(-1) * h).sum(dim=1), weights


def entropy(weights: Tensor) -> Tensor:
    """How evenly each row of weights (rows, time) is shared out: from 0 to log(time); (rows,)."""
    weights = weights.float()
    return -(weights * (weights + 1e-8).log()).sum(dim=-1)


class Net(nn.Module):
    """Logits (rows, CLASSES), and the weights of the readings (rows, time)."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.norm = Norm(FEATURES)
        self.embed = nn.Linear(FEATURES, width)
        self.score = nn.Linear(width, 1, bias=False)
        self.clock = nn.Linear(8, width, bias=False)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x: Tensor, seconds: Tensor) -> tuple[Tensor, Tensor]:
        h = self.embed(self.norm(x)).relu()  # (rows, time, width)
        missing = (x == 0).all(dim=-1)  # (rows, time)
        scores = self.score(h).squeeze(-1).masked_fill(missing, -math.inf)
        pooled, weights = attend(h, scores)
        return self.head((pooled + self.clock(phases(seconds))).relu()), weights
