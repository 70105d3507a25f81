from collections.abc import Callable

import torch
from torch import nn


def did_it_move(model: nn.Module, step: Callable[[], object]) -> list[str]:
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    step()
    return [name for name, p in model.named_parameters() if torch.equal(p, before[name])]
