from jaxtyping import Int
from torch import Tensor


def channels_first(image: Int[Tensor, "height width channels"]) -> Int[Tensor, "channels height width"]:
    return image.permute(2, 0, 1)
