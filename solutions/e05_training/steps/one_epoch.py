import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader


def one_epoch(model: nn.Module, optimizer: torch.optim.Optimizer, loader: DataLoader) -> float:
    losses = []
    for x, y in loader:  # (rows, features), (rows, 1)
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)
