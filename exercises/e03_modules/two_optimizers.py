"""Two networks, two optimizers: a step of a GAN.

A generator makes samples from noise, a discriminator tells them from real ones by a logit for each (Goodfellow et al.
2014, "Generative adversarial nets"). Each has a loss and an optimizer of its own. With `bce` for the binary cross-entropy
of logits, its mean over all samples:

    fake = generator(noise)
    d_loss = bce(discriminator(real), 1) + bce(discriminator(fake), 0)
    g_loss = bce(discriminator(fake), 1)

    # Say that both are nn.Linear(1, 1, bias=False), the generator's weight 1, the discriminator's 0, both rates 1.
    gan_step(generator, discriminator, g_optimizer, d_optimizer, torch.tensor([[2.0]]), torch.tensor([[1.0]]))
    # (1.3863, 0.4741); now the weights are 1.1888 and 0.5

- First the discriminator takes its step; g_loss is taken with the new one.
- d_loss moves the discriminator alone, g_loss the generator alone.
- The generator runs once in a call.

Fine print:
- Numbers that lie in `.grad` before the call have no influence. After it each network's `.grad` holds the gradient of its
  own loss: g_loss leaves nothing in the discriminator's.
- d_loss goes back through the discriminator, not on into the generator: that would cost a backward for nothing.
- The discriminator runs three times, on real, fake and fake: a batch norm in it counts these batches.
- Modes belong to the caller, and models are called, so that their hooks run. real and noise stay as they are.
"""

from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Optimizer


def gan_step(
    generator: nn.Module,
    discriminator: nn.Module,
    g_optimizer: Optimizer,
    d_optimizer: Optimizer,
    real: Float[Tensor, "batch *sample"],
    noise: Float[Tensor, "batch *noise"],
) -> tuple[float, float]:
    """Train both for a step, and return d_loss and g_loss as Python floats."""
    raise NotImplementedError
