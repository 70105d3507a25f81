"""Turn a pair of features: cosine and sine.

At each position two features, x and y, are the coordinates of a point in the plane. Return the pair, turned by the
angle of its position.

    turned x = x · cos(angle) - y · sin(angle)
    turned y = x · sin(angle) + y · cos(angle)

    turn_a_pair(torch.tensor([3.0, 3.0]), torch.tensor([4.0, 4.0]),
                torch.tensor([0.0, 1.0]))
    # (tensor([ 3.0000, -1.7450]), tensor([4.0000, 4.6856]))

New here: `angle.cos()` and `angle.sin()`, of each number; angles are in radians, and a full turn is 2π.
"""

from jaxtyping import Float
from torch import Tensor


def turn_a_pair(
    x: Float[Tensor, "time"], y: Float[Tensor, "time"], angle: Float[Tensor, "time"]
) -> tuple[Float[Tensor, "time"], Float[Tensor, "time"]]:
    raise NotImplementedError
