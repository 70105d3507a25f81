"""The gradient penalty: a loss made of a gradient.

A critic scores samples, real ones and those of a generator. It trains well if its score changes gently from
sample to sample, so the norm of its gradient is pulled towards `target` (WGAN-GP). The gradient is taken
between a real and a generated sample; for each sample, `mix` says where:

    between = mix * real + (1 - mix) * fake
    penalty = mean over the samples of (‖∂ critic(between) / ∂ between‖ - target)²

    critic = lambda x: x.square().sum(1) / 2                # its gradient at x is x
    real, fake = torch.tensor([[3., 4.], [3., 4.]]), torch.zeros(2, 2)
    mix = torch.tensor([0.2, 0.6])                          # between has the norms 1 and 3
    gradient_penalty(critic, real, fake, mix)               # ((1 - 1)² + (3 - 1)²) / 2 = 2
    gradient_penalty(critic, real, fake, mix, target=0.)    # (1² + 3²) / 2 = 5

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
