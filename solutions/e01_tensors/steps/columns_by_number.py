from jaxtyping import Int
from torch import Tensor


def columns_by_number(
    points: Int[Tensor, "pupils questions"], ids: Int[Tensor, " n"]
) -> Int[Tensor, "pupils n"]:
    return points.index_select(1, ids)
