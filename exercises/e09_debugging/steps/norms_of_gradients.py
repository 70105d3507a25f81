"""The norm of each gradient, by name.

When the loss explodes or stands still, look at the sizes of the gradients, layer by layer. `backward` has
run, and every parameter has a gradient. Return a dict: the name of each parameter, and the norm of its
gradient, as a Python float.

    # nn.Linear(2, 1), where backward has left weight.grad [[3., 4.]] and
    # bias.grad [2.]
    norms_of_gradients(model)       # {"weight": 5.0, "bias": 2.0}

New here: `for name, p in model.named_parameters():` goes through all parameters with their names; `p.grad.norm()` is
the root of the sum of the squares, a tensor with one number.
"""

import torch
from torch import nn


def norms_of_gradients(model: nn.Module) -> dict[str, float]:
    raise NotImplementedError
