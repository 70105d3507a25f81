"""A layer of weights: `nn.Linear`.

A model guesses prices from what is known of a house: from 3 numbers, say, 2 prices. Make a linear layer from
as many numbers as a row of x has to `outputs` numbers, and run it on x. Return three things: what comes out,
the shape of its weight, the shape of its bias.

    y, weight, bias = use_a_linear(torch.zeros(5, 3), 2)
    y.shape, weight, bias
    # (5, 2), (2, 3), (2,): the weight has a row for each output

New here: `layer = nn.Linear(3, 2)` makes a layer with random weights, and `layer(x)` runs it: it computes
`x @ layer.weight.T + layer.bias`.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def use_a_linear(
    x: Float[Tensor, "rows features"], outputs: int
) -> tuple[Float[Tensor, "rows outputs"], torch.Size, torch.Size]:
    raise NotImplementedError
