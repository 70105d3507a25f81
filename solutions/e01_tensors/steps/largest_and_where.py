from jaxtyping import Float, Int
from torch import Tensor


def largest_and_where(
    scores: Float[Tensor, "rows columns"],
) -> tuple[Float[Tensor, " rows"], Int[Tensor, " rows"]]:
    values, places = scores.max(dim=1)
    return values, places
