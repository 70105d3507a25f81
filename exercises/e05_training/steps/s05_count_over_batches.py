"""Batches that are not equally long: mend `count_over_batches(model, loader)`.

The accuracy of a model over all rows of a loader is asked for. This code takes the mean of the batches'
accuracies. But the last batch of a loader is often shorter, and its rows then count for more than others.

    # a batch of three rows, all right, and a batch of one row, wrong
    count_over_batches(model, loader)       # 0.75: three rows of four; the code says (1 + 0) / 2 = 0.5

New here: add up what can be added, the number of rows that are right and the number of rows, and divide
once, at the end.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader


def count_over_batches(model: nn.Module, loader: DataLoader) -> float:
    shares = []
    with torch.no_grad():
        for x, labels in loader:
            right = model(x).argmax(dim=1) == labels
            shares.append(right.float().mean().item())
    return sum(shares) / len(shares)
