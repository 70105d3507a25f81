"""Your SwiGLU of one feature against relu: smooth, and bent on both sides."""

from collections.abc import Iterator
from types import ModuleType

import torch

from grader.learner.plot import chart


def see(swiglu: ModuleType) -> Iterator[str]:
    layer = swiglu.SwiGLU(1, hidden=1)
    with torch.no_grad():
        for p in layer.parameters():
            p.fill_(1.0)
        x = torch.linspace(-3, 2, 60)
        y = layer(x[:, None])[:, 0]
    yield "all weights are 1: (o) your SwiGLU, (.) relu"
    yield chart((".", x, x.relu()), ("o", x, y), across="x", up="y")
