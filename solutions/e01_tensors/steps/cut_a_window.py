from jaxtyping import Int
from torch import Tensor


def cut_a_window(x: Int[Tensor, "rows columns"]) -> Int[Tensor, "rows-1 2"]:
    return x[1:, :2]
