from jaxtyping import Shaped
from torch import Tensor


def bytes_each(x: Shaped[Tensor, "*shape"]) -> tuple[int, int]:
    return x.numel() * x.element_size(), x.numel() * 2
