from jaxtyping import Float
from torch import Tensor


def take_in(average: Float[Tensor, "*shape"], weight: Float[Tensor, "*shape"]) -> None:
    average.lerp_(weight, 0.1)
