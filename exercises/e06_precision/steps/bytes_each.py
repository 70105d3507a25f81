"""How many bytes does a tensor take?

The memory of a GPU is soon full, so numbers are kept in fewer bytes. Return the bytes that the numbers of x
take, and those that they would take in bfloat16.

    bytes_each(torch.zeros(3, 5))
    # (60, 30): 15 numbers of 4 bytes, or of 2
    bytes_each(torch.zeros(5, dtype=torch.float64))
    # (40, 10)

New here: `x.element_size()` is the number of bytes of each number in x: 4 in float32, 8 in float64. float16
(`x.half()`) and bfloat16 (`x.bfloat16()`) take 2. `x.numel()` is how many numbers x has.
"""

from jaxtyping import Shaped
from torch import Tensor


def bytes_each(x: Shaped[Tensor, "*shape"]) -> tuple[int, int]:
    raise NotImplementedError
