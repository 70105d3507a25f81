"""A running average of the weights: `lerp_`.

The weights of a run jitter around a good place; their average lies nearer to it. Move `average` a little towards `weight`,
in place: it keeps 0.9 of itself and takes 0.1 of weight.

    average, weight = torch.tensor([0.0, 10.0]), torch.tensor([10.0, 20.0])
    take_in(average, weight)
    average      # tensor([ 1., 11.])

New here: `a.lerp_(b, 0.3)` moves a by 0.3 of the way to b, in place: 0 would leave it, 1 would make it b.
"""

from jaxtyping import Float
from torch import Tensor


def take_in(average: Float[Tensor, "*shape"], weight: Float[Tensor, "*shape"]) -> None:
    raise NotImplementedError
