"""Stochastic rounding: float32 to bfloat16, right on average.

Rounded to the nearest, 1 + 0.001 is 1 in bfloat16, however often it is added: weights without a float32 copy stop learning.
Rounded at random, up in proportion to how near the upper neighbour is, small steps arrive on average. (Gupta et al. 2015,
"Deep learning with limited numerical precision", section 3.)

    x = torch.full((1000,), 1.002)       # bfloat16 has 1 and 1.0078
    y = stochastic_round(x)              # about 744 times 1, and 256 times 1.0078
    y.float().mean()                     # about 1.002

- Each number becomes one of the two bfloat16 numbers around it: the upper one with probability
  (x - lower) / (upper - lower).
- What bfloat16 has already stays.
- Each number is drawn for itself, negative ones as well.
- Draws come from the generator, where one is given.

Fine print:
- Infinities and NaN stay what they are, whatever bits the NaN has.
- x may be transposed, a part of a larger tensor, a single number, or empty; it stays as it is.
- With a generator the global random stream is left alone.
- On another device nothing is copied to or from the CPU.
- What lies beyond the largest bfloat16 is not tried.
"""

import torch
from jaxtyping import BFloat16, Float32
from torch import Tensor


def stochastic_round(
    x: Float32[Tensor, "*shape"], generator: torch.Generator | None = None
) -> BFloat16[Tensor, "*shape"]:
    """x in bfloat16, each number rounded up or down at random, so that the mean is x."""
    raise NotImplementedError
