from collections.abc import Callable

import torch


def lower_the_rate(optimizer: torch.optim.Optimizer, train: Callable[[], None], epochs: int) -> list[float]:
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    rates = []
    for _ in range(epochs):
        rates.append(scheduler.get_last_lr()[0])
        train()
        scheduler.step()
    return rates
