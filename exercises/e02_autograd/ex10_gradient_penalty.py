"""The gradient penalty: a loss made of a gradient.

A critic scores samples, real ones and those of a generator. It trains well if its score changes gently from
sample to sample, so the norm of its gradient is pulled towards `target` (WGAN-GP). The gradient is taken
between a real and a generated sample; for each sample, `mix` says where:

    between = mix * real + (1 - mix) * fake
    penalty = mean over the samples of (‖∂ critic(between) / ∂ between‖ - target)²

    critic = lambda x: x @ torch.tensor([3., 4.])       # its gradient is [3, 4] everywhere, of norm 5
    gradient_penalty(critic, torch.ones(2, 2), torch.zeros(2, 2), mix=torch.rand(2))                # 16
    gradient_penalty(critic, torch.ones(2, 2), torch.zeros(2, 2), mix=torch.rand(2), target=0.)     # 25

- `penalty.backward()` gives the critic's parameters the right gradients.
- The norm is the Euclidean one over all dimensions of a sample: rows, images, or others.
- Scores have the shape (batch,) or (batch, 1). Each depends on its own sample alone.
- The critic is called once, on the whole batch. No loop over the samples.

Fine print:
- real, fake and mix are data: they stay as they are, and get no gradient, even if they require one.
- Computing the penalty changes no `.grad`, and not the critic's mode.
- A sample whose gradient is exactly 0 adds 0 to the gradients of the parameters, not NaN.
- The penalty has the dtype of the samples.
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
    """The mean squared distance of the critic's gradient norms, between real and fake, from `target`."""
    raise NotImplementedError
