from jaxtyping import Float
from torch import Tensor


def same_shape_or_error(
    predicted: Float[Tensor, "*shape"], target: Float[Tensor, "*shape"]
) -> Float[Tensor, ""]:
    if predicted.shape != target.shape:
        raise ValueError(f"predictions {tuple(predicted.shape)}, but targets {tuple(target.shape)}")
    return ((predicted - target) ** 2).mean()
