"""Gradients that vanish: their norms in eight layers, by your step."""

from collections.abc import Iterator
from types import ModuleType

import torch
from torch import nn

from grader.learner.plot import bars


def see(norms_of_gradients: ModuleType) -> Iterator[str]:
    for between in (nn.Sigmoid, nn.ReLU):
        torch.manual_seed(0)
        layers = [layer for _ in range(8) for layer in (nn.Linear(32, 32), between())]
        model = nn.Sequential(*layers)
        for layer in model[::2]:
            nn.init.kaiming_normal_(layer.weight)
        model(torch.randn(64, 32)).square().mean().backward()
        norms = norms_of_gradients.norms_of_gradients(model)
        weights = {name: norm for name, norm in norms.items() if name.endswith("weight")}
        yield f"{between.__name__}, from the first layer to the last\n{bars(weights)}"
