from jaxtyping import Float, Int
from torch import Tensor


def mean_of_integers(scores: Int[Tensor, "*shape"]) -> Float[Tensor, ""]:
    return scores.float().mean()
