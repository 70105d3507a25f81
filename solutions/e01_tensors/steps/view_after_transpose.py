from jaxtyping import Int
from torch import Tensor


def down_the_columns(x: Int[Tensor, "rows columns"]) -> Int[Tensor, "rows*columns"]:
    return x.t().reshape(-1)  # a copy: no view has the numbers in this order
