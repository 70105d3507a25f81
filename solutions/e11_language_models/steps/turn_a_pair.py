from jaxtyping import Float
from torch import Tensor


def turn_a_pair(
    x: Float[Tensor, "time"], y: Float[Tensor, "time"], angle: Float[Tensor, "time"]
) -> tuple[Float[Tensor, "time"], Float[Tensor, "time"]]:
    cos, sin = angle.cos(), angle.sin()  # (time,)
    return x * cos - y * sin, x * sin + y * cos
