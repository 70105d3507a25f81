"""A sum that stops growing.

Between 256 and 512 bfloat16 has even numbers only: 256 + 1 is 256 again. So the sum below, of bfloat16
numbers, gets stuck. Mend it: convert to float32 before adding, and return the sum in float32. A loop or one
call will do.

    sum_in_float32(torch.ones(300, dtype=torch.bfloat16))
    # tensor(300.); the code below gives 256

New here: `x.float()` has the same numbers in float32. `x.sum(dtype=torch.float32)` converts them first, too.
To convert the sum is too late: what was rounded stays wrong.
"""

import torch
from jaxtyping import BFloat16, Float32
from torch import Tensor


def sum_in_float32(x: BFloat16[Tensor, "n"]) -> Float32[Tensor, ""]:
    total = torch.zeros((), dtype=x.dtype)
    for number in x:
        total = total + number
    return total
