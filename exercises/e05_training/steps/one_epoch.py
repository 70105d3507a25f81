"""Once through all the data: `one_epoch(model, optimizer, loader)`.

An epoch is the five lines for each batch of a loader. Write it, and return the mean of the batches' losses.
The loss is `F.mse_loss`.

    # two batches: x is 1 and y is 3; x is 2 and y is 6. So y = 3 x, and the
    # model does not know it yet
    model = nn.Linear(1, 1, bias=False)
    # say that its weight is 0.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    one_epoch(model, optimizer, loader)
    # (9 + 23.04) / 2 = 16.02, and the weight is 2.52
    one_epoch(model, optimizer, loader)
    # 0.41                 ... the weight is 2.92
    one_epoch(model, optimizer, loader)
    # 0.01                 ... the weight is 2.99: that is learning

New here: `for x, y in loader:` gives one batch after another. Add up `loss.item()`, a plain number: a sum of
tensors would keep the graph of every batch.
"""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader


def one_epoch(model: nn.Module, optimizer: torch.optim.Optimizer, loader: DataLoader) -> float:
    raise NotImplementedError
