from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor


def which_dtype(
    ids: Shaped[Tensor, " rows"], features: Shaped[Tensor, "rows columns"], flags: Shaped[Tensor, " rows"]
) -> tuple[Int[Tensor, " rows"], Float[Tensor, "rows columns"], Bool[Tensor, " rows"]]:
    return ids.long(), features.float(), flags.bool()
