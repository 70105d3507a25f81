from pathlib import Path

import torch
from torch import nn


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, epoch: int) -> None:
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(states | {"epoch": epoch}, path)


def go_on(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    checkpoint = torch.load(path)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]
