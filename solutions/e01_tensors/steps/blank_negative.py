from jaxtyping import Float
from torch import Tensor


def blank_negative(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    blanked = x.clone()
    blanked[x < 0] = 0
    return blanked
