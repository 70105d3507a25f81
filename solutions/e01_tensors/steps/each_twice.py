from jaxtyping import Int
from torch import Tensor


def each_row(x: Int[Tensor, "rows columns"], n: int) -> Int[Tensor, "n*rows columns"]:
    return x.repeat_interleave(n, dim=0)
