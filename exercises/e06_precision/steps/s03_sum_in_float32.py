"""A sum that stops growing.

Between 256 and 512 bfloat16 has even numbers only: 256 + 1 is 256 again. So the sum below, of bfloat16
numbers, gets stuck. Mend it: add up in float32, and return the sum in float32.

    sum_in_float32(torch.ones(300, dtype=torch.bfloat16))     # tensor(300.); the code below gives 256

New here: `x.float()` has the same numbers in float32. What was rounded in bfloat16 stays wrong, so widen
before adding, not afterwards. `x.sum(dtype=torch.float32)` widens first, too.
"""

import torch
from jaxtyping import BFloat16, Float32
from torch import Tensor


def sum_in_float32(x: BFloat16[Tensor, "n"]) -> Float32[Tensor, ""]:
    total = torch.zeros((), dtype=x.dtype)
    for number in x:
        total = total + number
    return total
