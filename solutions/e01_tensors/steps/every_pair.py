from jaxtyping import Float
from torch import Tensor


def every_pair(a: Float[Tensor, " n"], b: Float[Tensor, " m"]) -> Float[Tensor, "n m"]:
    return a.unsqueeze(1) - b  # (n, 1) - (m,)
