from jaxtyping import Shaped
from torch import Tensor


def flatten_images(images: Shaped[Tensor, "batch channels height width"]) -> Shaped[Tensor, "batch numbers"]:
    return images.flatten(1)
