"""Batches that are not equally long: mend `count_over_batches(model, loader)`.

Return the accuracy of a model, in evaluation mode already, over all rows of a loader. The code below takes
the mean of the batches' accuracies. But the last batch is often shorter, and its rows then count for more
than others.

    # a batch of three rows, all right, and a batch of one row, wrong
    count_over_batches(model, loader)
    # 0.75: three rows of four. The code below gives 0.5, which is wrong

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
