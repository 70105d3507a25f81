from pathlib import Path

import torch
from torch import nn


def save_weights(model: nn.Module, path: Path) -> None:
    torch.save(model.state_dict(), path)


def load_weights(model: nn.Module, path: Path) -> None:
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
