"""Seed everything.

A run can be repeated only if its random numbers come again. Python, NumPy and PyTorch each draw from a stream of their
own. Start all three from `seed`; then draw one number from each, in this order, and return the three.

    seed_everything(7)      # (0.3238, 0.0763, 0.5349)
    seed_everything(7)      # the same three

New here: `random.seed(seed)` and `random.random()`; `np.random.seed(seed)` and `np.random.rand()`;
`torch.manual_seed(seed)` and `torch.rand(()).item()`.
"""

import random

import numpy as np
import torch


def seed_everything(seed: int) -> tuple[float, float, float]:
    raise NotImplementedError
