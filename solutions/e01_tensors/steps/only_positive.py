from jaxtyping import Float
from torch import Tensor


def only_positive(x: Float[Tensor, "*shape"]) -> Float[Tensor, " found"]:
    return x[x > 0]
