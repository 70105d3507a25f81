from jaxtyping import Float
from torch import Tensor


def shares_of_a_row(sold: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
    return sold / sold.sum(dim=1, keepdim=True)  # (rows, columns) / (rows, 1)
