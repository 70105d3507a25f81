"""How much does a linear layer compute?

Speed is counted in floating-point operations. Each output number of a linear layer takes `in_features`
multiplications and as many additions; the bias is left out. Return how many operations `layer(x)` takes for a
batch of rows.

    flops_of_a_layer(nn.Linear(3, 4), torch.zeros(5, 3))
    # 5 · 4 numbers, 2 · 3 operations each: 120

New here: `layer.in_features` and `layer.out_features`. (`FlopCounterMode` of `torch.utils.flop_counter` counts the same while
a model runs.)
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def flops_of_a_layer(layer: nn.Linear, x: Float[Tensor, "rows in_features"]) -> int:
    raise NotImplementedError
