"""An angle for each position and pair: `torch.outer`.

A rotary embedding turns pairs of features, each pair at its own speed. Return the angles, position times speed: a row
for each position 0, 1, 2, … and dim / 2 columns.

    angles_of_positions(3, 4)
    # tensor([[0.0000, 0.0000], [1.0000, 0.0100], [2.0000, 0.0200]])

- Pair i turns at 10000 to the power of -2 * i / dim.

New here: `torch.outer(a, b)` multiplies each number of a row a by each of a row b. `torch.arange(0, dim, 2)` is 0, 2,
4, …; `10000.0 ** -x` works elementwise.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def angles_of_positions(time: int, dim: int) -> Float[Tensor, "time pairs"]:
    raise NotImplementedError
