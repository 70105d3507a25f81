"""A learning rate that warms up in a line and cools down along a cosine.

The first steps of a large model are taken with care, and so are the last. Write the factor of the learning rate at each
step, counted from 0, and the scheduler that applies it:

    [round(warmup_cosine(step, warmup=4, total=8), 3) for step in range(10)]
    # [0.25, 0.5, 0.75, 1.0,    1.0, 0.854, 0.5, 0.146,    0.0, 0.0]
    #  warm-up                  half a cosine              stays at the floor
    warmup_cosine(6, warmup=4, total=8, floor=0.1)      # 0.55, half way between 1 and 0.1

- Where step < warmup: (step + 1) / warmup, which ends at 1.
- Then floor + (1 - floor) · (1 + cos(π · share)) / 2, where share is (step - warmup) / (total - warmup).
- From step = total on, it is the floor.
- `warmup_cosine_schedule` returns a `LambdaLR`: each group's learning rate is the factor times the one that it was made
  with. The first `optimizer.step()` is taken with the factor of step 0.

Fine print:
- Hugging Face's schedule begins with step / warmup, at 0. Here no step is taken with a learning rate of 0.
- With warmup = 0 there is no warm-up; with warmup = total no cosine, and with total = 0 it is always the floor.
- The factor is a plain Python float.
- ValueError where step < 0, warmup < 0, total < warmup, or floor is not from 0 to 1, also when a schedule is made.
"""

import torch
from torch.optim.lr_scheduler import LambdaLR


def warmup_cosine(step: int, warmup: int, total: int, floor: float = 0.0) -> float:
    """The factor of the learning rate at one step, from 0 to 1."""
    raise NotImplementedError


def warmup_cosine_schedule(
    optimizer: torch.optim.Optimizer, warmup: int, total: int, floor: float = 0.0
) -> LambdaLR:
    """A scheduler that multiplies every group's learning rate by `warmup_cosine`."""
    raise NotImplementedError
