"""The gradient penalty: a loss made of a gradient.

A critic scores samples, real ones and those of a generator. It trains well if its score changes gently from
sample to sample, so the norm of its gradient is pulled towards 1 (WGAN-GP). The gradient is taken between a
real and a generated sample; for each sample, `mix` says where:

    between = mix * real + (1 - mix) * fake
    penalty = mean over the samples of (‖∂ critic(between) / ∂ between‖ - target)²

    critic = lambda x: x @ torch.tensor([3., 4.])       # its gradient is [3, 4] everywhere, of norm 5
    gradient_penalty(critic, torch.ones(2, 2), torch.zeros(2, 2), mix=torch.rand(2))                # 16
    gradient_penalty(critic, torch.ones(2, 2), torch.zeros(2, 2), mix=torch.rand(2), target=0.)     # 25

Rules:
- The penalty trains the critic: `penalty.backward()` gives its parameters the right gradients.
- real, fake and mix are data. They are not changed in any way, and no gradient reaches them or whatever they
  were computed from, even if they require gradients. Computing the penalty changes no `.grad` anywhere, nor
  the critic's mode. When the penalty is let go of, so is all that it was computed from.
- The norm of a sample is the Euclidean one over all its dimensions, one or more. The critic's scores
  have the shape (B,) or (B, 1); each score depends on its own sample alone.
- The critic is called once, on the whole batch between real and fake, in the mode that it is in. No loop over
  the samples.
- A sample whose gradient is exactly 0 counts target², and adds 0 to the gradients of the parameters, not NaN.
  Nothing is added to the norm to get there: in float64 the penalty is exact up to rounding.
- real, fake and mix are floats of one dtype, which is that of the penalty.
"""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor


def gradient_penalty(
    critic: Callable[[Tensor], Tensor],
    real: Float[Tensor, "batch *features"],
    fake: Float[Tensor, "batch *features"],
    mix: Float[Tensor, "batch"],
    target: float = 1.0,
) -> Float[Tensor, ""]:
    """How far the critic's gradient norms between real and fake are from `target`.

    Args:
        critic: gives one score for each sample.
        real: samples of the data set; there is at least one.
        fake: samples of a generator, as many.
        mix: from 0, which is the fake sample, to 1, which is the real one.
        target: the norm that is wanted.

    Returns:
        The mean squared distance from target: one number, with a graph that leads to the critic's parameters.
    """
    raise NotImplementedError
