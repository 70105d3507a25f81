import torch
from torch import nn


def two_learning_rates(model: nn.Module, small: float, large: float) -> torch.optim.Optimizer:
    body = {"params": model.body.parameters(), "lr": small}
    head = {"params": model.head.parameters(), "lr": large}
    return torch.optim.SGD([body, head])
