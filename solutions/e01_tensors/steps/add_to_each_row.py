from jaxtyping import Float
from torch import Tensor


def add_to_columns(
    x: Float[Tensor, "rows columns"], bias: Float[Tensor, " columns"]
) -> Float[Tensor, "rows columns"]:
    return x + bias


def scale_rows(
    x: Float[Tensor, "rows columns"], factors: Float[Tensor, " rows"]
) -> Float[Tensor, "rows columns"]:
    return x * factors.unsqueeze(1)  # (rows, columns) * (rows, 1)
