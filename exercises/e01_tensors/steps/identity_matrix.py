"""Ones on the diagonal: `torch.eye`.

A mixer has n inputs and n outputs; a table says how loud each input (row) is at each output (column). At first
input i is heard at output i alone, with `volume`. Return the table.

    mixer(3, 0.5)      # tensor([[0.5000, 0.0000, 0.0000],
                       #         [0.0000, 0.5000, 0.0000],
                       #         [0.0000, 0.0000, 0.5000]])

New here: `torch.eye(4)` has 4 rows and 4 columns, with ones where row and column have the same number (the
*diagonal*), and zeros elsewhere.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def mixer(n: int, volume: float) -> Float[Tensor, "n n"]:
    raise NotImplementedError
