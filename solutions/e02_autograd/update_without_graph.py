from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor


def sgd_step(params: Iterable[Float[Tensor, "..."]], lr: float, weight_decay: float = 0.0) -> int:
    moving = [p for p in params if p.grad is not None]
    with torch.no_grad():  # writes are counted, and not recorded
        for p in moving:
            p -= lr * (p.grad + weight_decay * p)  # in place: the same object, the same memory
    return len(moving)
