from jaxtyping import Float
from torch import Tensor


def clip_outliers(x: Float[Tensor, "*shape"], low: float, high: float) -> Float[Tensor, "*shape"]:
    not_too_low = x.masked_fill(x < low, low)  # (*shape), a new tensor
    return not_too_low.masked_fill(x > high, high)
