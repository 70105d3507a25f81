"""The same parameters everywhere: `broadcast`.

Each rank has built the model with random parameters of its own. Before they train together, all must start from the same:
give every rank, in place, the parameters that rank 0 has. Return nothing.

    # nn.Linear(1, 1): weight 2.0 and bias 1.0 on rank 0,
    # weight 7.0 and bias 3.0 on rank 1
    the_same_everywhere(model)
    # weight 2.0 and bias 1.0 on both

New here: `dist.broadcast(y, src=0)`, called by every rank, overwrites y with what y is on rank 0. A parameter is
overwritten under `torch.no_grad()`.
"""

import torch
import torch.distributed as dist
from torch import nn


def the_same_everywhere(model: nn.Module) -> None:
    raise NotImplementedError
