from jaxtyping import Float
from torch import Tensor


def add_a_small_product(
    x: Float[Tensor, "rows in"],
    weight: Float[Tensor, "out in"],
    a: Float[Tensor, "rank in"],
    b: Float[Tensor, "out rank"],
    scale: float,
) -> Float[Tensor, "rows out"]:
    return x @ weight.T + scale * (x @ a.T @ b.T)  # (rows, out)
