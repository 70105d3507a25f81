from jaxtyping import Int
from torch import Tensor


def row_column_element(
    x: Int[Tensor, "rows columns"], i: int, j: int
) -> tuple[Int[Tensor, " columns"], Int[Tensor, " rows"], Int[Tensor, ""]]:
    return x[i], x[:, j], x[i, j]
