"""Two numbers in a byte: `<<` and `|`.

Weights of four bits are numbers from 0 to 15, and a byte has room for two. Return a byte for each two neighbours in a
row: the first, plus 16 times the second.

    two_in_a_byte(torch.tensor([[1, 2, 15, 0]], dtype=torch.uint8))
    # tensor([[33, 15]], dtype=torch.uint8): 1 + 16 · 2, 15 + 16 · 0

New here: `x << 4` moves the bits of whole numbers up by four places, which is times 16; `a | b` has the bits of both.
`x[:, 0::2]` is every second column from 0 on.
"""

from jaxtyping import UInt8
from torch import Tensor


def two_in_a_byte(x: UInt8[Tensor, "rows columns"]) -> UInt8[Tensor, "rows half"]:
    raise NotImplementedError
