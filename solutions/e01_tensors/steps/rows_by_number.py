from jaxtyping import Float, Int
from torch import Tensor


def rows_by_number(table: Float[Tensor, "words dim"], ids: Int[Tensor, " n"]) -> Float[Tensor, "n dim"]:
    return table[ids]
