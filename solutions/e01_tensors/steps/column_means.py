from jaxtyping import Float
from torch import Tensor


def means_and_sums(
    sold: Float[Tensor, "rows columns"],
) -> tuple[Float[Tensor, " columns"], Float[Tensor, " rows"]]:
    return sold.mean(dim=0), sold.sum(dim=1)
