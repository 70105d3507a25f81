"""Put tensors together: `stack` or `cat`?

Three sensors sent their numbers. Put them on top of each other, as a table with a row for each sensor; or end to end,
as one long row.

    a, b, c = torch.tensor([1, 2]), torch.tensor([3, 4]), torch.tensor([5, 6])
    on_top(a, b, c)          # tensor([[1, 2], [3, 4], [5, 6]])
    end_to_end(a, b, c)      # tensor([1, 2, 3, 4, 5, 6])

- End to end, the rows may differ in length.

New here: `torch.stack([x, y])` adds a dim, and wants equal shapes; `torch.cat([x, y])` adds none.
"""

import torch
from jaxtyping import Shaped
from torch import Tensor


def on_top(
    a: Shaped[Tensor, " n"], b: Shaped[Tensor, " n"], c: Shaped[Tensor, " n"]
) -> Shaped[Tensor, "3 n"]:
    return torch.stack([a, b, c])


def end_to_end(
    a: Shaped[Tensor, " i"], b: Shaped[Tensor, " j"], c: Shaped[Tensor, " k"]
) -> Shaped[Tensor, "i+j+k"]:
    raise NotImplementedError
