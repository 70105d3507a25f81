from jaxtyping import Float, Int
from torch import Tensor


def top_three(scores: Float[Tensor, "rows columns"]) -> tuple[Float[Tensor, "rows 3"], Int[Tensor, "rows 3"]]:
    values, places = scores.topk(3, dim=1)
    return values, places
