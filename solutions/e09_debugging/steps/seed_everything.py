import random

import numpy as np
import torch


def seed_everything(seed: int) -> tuple[float, float, float]:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return random.random(), np.random.rand(), torch.rand(()).item()
