"""The largest number of each row, and its column: `max`.

A model gave scores to the labels of each photo, a row for each photo. Return two tensors: the largest score of each
row, and the column where it stands.

    scores = torch.tensor([[0.1, 0.7, 0.2], [0.9, 0.0, 0.1]])
    largest_and_where(scores)      # (tensor([0.7, 0.9]), tensor([1, 0]))

- No row has its largest number twice.

New here: `values, places = x.max(dim=1)`. For the places alone there is `x.argmax(dim=1)`.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def largest_and_where(
    scores: Float[Tensor, "rows columns"],
) -> tuple[Float[Tensor, " rows"], Int[Tensor, " rows"]]:
    raise NotImplementedError
