"""A line that your gradient descent fits to forty points."""

from collections.abc import Iterator
from types import ModuleType

import torch

from grader.learner.plot import chart


def see(fit_a_line: ModuleType) -> Iterator[str]:
    noise = torch.randn(40, generator=torch.Generator().manual_seed(0))
    x = torch.linspace(-1, 1, 40)
    y = 2 * x + 1 + 0.5 * noise
    w, b = (found.item() for found in fit_a_line.fit_a_line(x, y, 0.1))
    yield chart(("·", x, w * x + b), ("o", x, y), across="x", up="y")
    yield f"yours: y = {w:.2f} x + {b:.2f}; the points are strewn around y = 2 x + 1"
