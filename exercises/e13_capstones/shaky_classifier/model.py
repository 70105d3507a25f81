"""The network: two convolutions with batch norm, and a linear layer."""

import torch
from torch import nn


class Net(nn.Module):
    """Pictures of (batch, 1, 8, 8) to logits of (batch, classes)."""

    def __init__(self, classes=4, width=8):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
        )
        self.head = nn.Linear(2 * width * 16, classes)

    def forward(self, pictures):
        x = self.features(pictures).flatten(1)  # (batch, 16 * 2 * width)
        return self.head(x).softmax(dim=1)  # (batch, classes)


def build(seed):
    """A new network; its weights are those of the seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Net()
