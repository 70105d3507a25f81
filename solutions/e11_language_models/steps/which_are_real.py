from jaxtyping import Bool, Int
from torch import Tensor


def which_are_real(
    ids: Int[Tensor, "batch time"], pad: int
) -> tuple[Bool[Tensor, "batch time"], Int[Tensor, "batch"]]:
    real = ids != pad  # (batch, time)
    return real, real.sum(dim=1)
