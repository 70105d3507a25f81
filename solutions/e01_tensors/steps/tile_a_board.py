from jaxtyping import Int
from torch import Tensor


def floor(pattern: Int[Tensor, "rows columns"], n: int, m: int) -> Int[Tensor, "n*rows m*columns"]:
    return pattern.repeat(n, m)
