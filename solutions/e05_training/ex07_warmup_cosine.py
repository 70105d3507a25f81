"""A learning rate that warms up in a line and cools down along a cosine.

The first steps of a large model are taken with care, and so are the last. Steps count from 0:

    [round(warmup_cosine(step, warmup=4, total=8), 3) for step in range(10)]
    # [0.25, 0.5, 0.75, 1.0,    1.0, 0.854, 0.5, 0.146,    0.0, 0.0]
    #  warm-up                  half a cosine              stays at the floor
    warmup_cosine(6, warmup=4, total=8, floor=0.1)      # 0.55, half way between 1 and 0.1

The number is a factor: each parameter group has a learning rate of its own, and all follow one curve.

Rules:
- Warm-up, where step < warmup: (step + 1) / warmup. So no step is taken with a learning rate of 0, and the
  last one of the warm-up has the factor 1. With warmup = 0 there is none.
- From step = warmup on, half a cosine falls from 1 to the floor, which it reaches at step = total:
  floor + (1 - floor) · (1 + cos(π · share)) / 2, where share is (step - warmup) / (total - warmup).
- From step = total on, the factor is exactly the floor, for ever. With warmup = total it drops there at once.
  With total = 0 it is always the floor.
- The result is a plain Python float. It depends on the arguments alone, in whatever order the steps are asked
  for, and costs the same for every step.
- ValueError where step < 0, warmup < 0, total < warmup, or floor is not in [0, 1] (NaN is not).
- `warmup_cosine_schedule` gives a `torch.optim.lr_scheduler.LambdaLR` for `optimizer`. The first
  `optimizer.step()` is taken with the factor of step 0; each `schedule.step()` after it moves on by one. A
  group's learning rate is the factor times the one it was made with. A new schedule that loads the
  `state_dict` of an old one (as the optimizer does) goes on where that one was. Several schedules, with other
  numbers, do not disturb each other. Bad numbers raise when the schedule is made.
"""

import math

import torch
from torch.optim.lr_scheduler import LambdaLR


def warmup_cosine(step: int, warmup: int, total: int, floor: float = 0.0) -> float:
    """The factor of the learning rate at one step.

    Args:
        step: how many optimizer steps were taken before this one.
        warmup: number of steps in the warm-up.
        total: number of steps until the floor is reached, warm-up included.
        floor: the factor at the end, from 0 to 1.

    Returns:
        The factor, from 0 to 1.

    Raises:
        ValueError: a number out of its range.
    """
    if step < 0 or warmup < 0 or total < warmup:
        raise ValueError(f"want step >= 0 and 0 <= warmup <= total, got {step=}, {warmup=}, {total=}")
    if not 0 <= floor <= 1:
        raise ValueError(f"floor must be from 0 to 1, got {floor}")
    if step >= total:  # first: total - warmup may be 0
        return float(floor)
    if step < warmup:
        return (step + 1) / warmup
    share = (step - warmup) / (total - warmup)  # 0 up to, but not including, 1
    return floor + (1 - floor) * (1 + math.cos(math.pi * share)) / 2


def warmup_cosine_schedule(
    optimizer: torch.optim.Optimizer, warmup: int, total: int, floor: float = 0.0
) -> LambdaLR:
    """A scheduler that multiplies every group's learning rate by `warmup_cosine`.

    Args:
        optimizer: its groups may have different learning rates.
        warmup: see `warmup_cosine`.
        total: see `warmup_cosine`.
        floor: see `warmup_cosine`.

    Returns:
        The scheduler, to be stepped after each step of the optimizer.

    Raises:
        ValueError: a number out of its range.
    """
    return LambdaLR(optimizer, lambda step: warmup_cosine(step, warmup, total, floor))
