"""One byte for each number: int8.

int8 holds whole numbers from -128 to 127. Divide x by scale = largest absolute value / 127, and round. Return
the numbers in int8, and the scale that brings them back. x is not all zeros.

    q, scale = one_byte_each(torch.tensor([5.0, -25.4, 0.35]))
    q, scale
    # tensor([25, -127, 2], dtype=torch.int8), tensor(0.2000)
    q * scale
    # tensor([5.0000, -25.4000, 0.4000]): off by half a scale at most

New here: `x.abs().max()` is the largest absolute value; `.round()` rounds, and `.to(torch.int8)` then loses
nothing.
"""

import torch
from jaxtyping import Float, Int8
from torch import Tensor


def one_byte_each(x: Float[Tensor, "n"]) -> tuple[Int8[Tensor, "n"], Float[Tensor, ""]]:
    raise NotImplementedError
