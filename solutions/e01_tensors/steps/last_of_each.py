from jaxtyping import Int
from torch import Tensor


def last_of_each(x: Int[Tensor, "*before last"]) -> Int[Tensor, "*before"]:
    return x[..., -1]
