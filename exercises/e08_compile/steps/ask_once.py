"""Ask once, at the end.

On an accelerator (such as a GPU) Python only queues the work and goes on. `.item()` wants to see a number, so
it waits until the queue is empty. The code below waits for each loss of an epoch. Mend it: the same mean, as
a Python float, with one wait.

    ask_once([torch.tensor(1.0), torch.tensor(3.0)])        # 2.0

New here: besides `.item()`, also `float(x)`, `x.tolist()`, `print(x)` and `if x > 0` wait. Adding, `torch.stack` and
`mean` do not.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def ask_once(losses: list[Float[Tensor, ""]]) -> float:
    total = 0.0
    for loss in losses:
        total += loss.item()
    return total / len(losses)
