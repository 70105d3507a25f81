"""Your SwiGLU of one feature against relu, and who hears whom through your rotary pairs and your window."""

from collections.abc import Iterator
from types import ModuleType

import torch

from grader.learner.plot import chart, shades


def see(
    swiglu: ModuleType, angles_of_positions: ModuleType, turn_a_pair: ModuleType, a_window_mask: ModuleType
) -> Iterator[str]:
    layer = swiglu.SwiGLU(1, hidden=1)
    with torch.no_grad():
        for p in layer.parameters():
            p.fill_(1.0)
        x = torch.linspace(-3, 2, 60)
        y = layer(x[:, None])[:, 0]
    yield "all weights are 1: (o) your SwiGLU, (.) relu"
    yield chart((".", x, x.relu()), ("o", x, y), across="x", up="y")
    time, window = 18, 12
    angles = angles_of_positions.angles_of_positions(time, 8)
    turned = [turn_a_pair.turn_a_pair(torch.ones(time), torch.zeros(time), angle) for angle in angles.T]
    features = torch.stack([part for pair in turned for part in pair], 1)  # (time, 8)
    scores = features @ features.T
    mask = a_window_mask.a_window_mask(time, window)
    yield f"equal words, turned by your angles: each row looks at itself and back, {window} words far"
    yield shades(scores.masked_fill(~mask, scores.min().item()).tolist())
