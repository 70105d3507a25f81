"""A loss that falls, by your step under your schedule, and what was learned."""

from collections.abc import Iterator
from types import ModuleType

import torch
from torch import nn
from torch.nn import functional as F

from grader.learner.plot import chart

STEPS = 300


def see(train_step: ModuleType, warmup_cosine: ModuleType) -> Iterator[str]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    schedule = warmup_cosine.warmup_cosine_schedule(optimizer, 20, STEPS)
    x = torch.linspace(-3, 3, 60)[:, None]
    y = (2 * x).sin()
    losses = []
    for _ in range(STEPS):
        losses.append(train_step.train_step(model, F.mse_loss, optimizer, x, y))
        schedule.step()
    yield chart(("o", range(STEPS), losses), across="step", up="loss")
    yield chart(("·", x, y), ("o", x, model(x).detach()), across="x", up="y")
    yield "o is what your model says, · what it was to learn"
