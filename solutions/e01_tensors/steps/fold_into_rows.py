from jaxtyping import Int
from torch import Tensor


def fold_into_rows(x: Int[Tensor, " length"], width: int) -> Int[Tensor, "rows width"]:
    return x.view(-1, width)
