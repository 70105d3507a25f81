from jaxtyping import Float
from torch import Tensor


def fahrenheit(celsius: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return 1.8 * celsius + 32
