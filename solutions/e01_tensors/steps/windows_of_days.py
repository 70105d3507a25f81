from jaxtyping import Float
from torch import Tensor


def weeks(days: Float[Tensor, " days"], size: int) -> Float[Tensor, "windows size"]:
    return days.unfold(0, size, 1)  # (days - size + 1, size)
