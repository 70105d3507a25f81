"""Draw one place for each row by chance: `multinomial`.

A language model weighs the words that may come next, and one of them is drawn: twice the weight, twice as
often. Draw one place for each row.

    weights = torch.tensor([[0.0, 0.0, 5.0], [1.0, 3.0, 0.0]])
    draw_by_weight(weights)
    # tensor([2, 1]); or tensor([2, 0]), one time in four

- The weights are at least 0; a row need not have the sum 1.

New here: `torch.multinomial(weights, 4)` draws four different places for each row, of shape (rows, 4).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def draw_by_weight(weights: Float[Tensor, "rows columns"]) -> Int[Tensor, " rows"]:
    raise NotImplementedError
