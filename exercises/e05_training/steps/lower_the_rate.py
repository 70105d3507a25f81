"""Smaller steps towards the end: `lower_the_rate(optimizer, train, epochs)`.

Large steps are quick at first, and too coarse later. A scheduler halves the learning rate after every epoch.
In each epoch: note the rate, call `train()`, which trains one epoch, then lower the rate. Return the rates.

    # the optimizer has lr=0.8
    lower_the_rate(optimizer, train, 3)
    # [0.8, 0.4, 0.2], and the rate is 0.1 afterwards

New here: `scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)` multiplies the
rate by 0.5 at each `scheduler.step()`; `scheduler.get_last_lr()[0]` is the rate now.
"""

from collections.abc import Callable

import torch


def lower_the_rate(optimizer: torch.optim.Optimizer, train: Callable[[], None], epochs: int) -> list[float]:
    raise NotImplementedError
