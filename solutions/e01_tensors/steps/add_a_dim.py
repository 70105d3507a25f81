from jaxtyping import Float, Shaped
from torch import Tensor


def batch_of_one(image: Float[Tensor, "channels height width"]) -> Float[Tensor, "1 channels height width"]:
    return image.unsqueeze(0)


def to_column(x: Shaped[Tensor, " n"]) -> Shaped[Tensor, "n 1"]:
    return x.unsqueeze(1)


def from_column(column: Shaped[Tensor, "n 1"]) -> Shaped[Tensor, " n"]:
    return column.squeeze(1)  # a column of one number stays a row of one
