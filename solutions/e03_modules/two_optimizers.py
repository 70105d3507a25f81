import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer


def gan_step(
    generator: nn.Module,
    discriminator: nn.Module,
    g_optimizer: Optimizer,
    d_optimizer: Optimizer,
    real: Float[Tensor, "batch *sample"],
    noise: Float[Tensor, "batch *noise"],
) -> tuple[float, float]:
    fake = generator(noise)  # (batch, *sample)
    d_optimizer.zero_grad()
    d_loss = _bce(discriminator(real), 1.0) + _bce(discriminator(fake.detach()), 0.0)
    d_loss.backward()
    d_optimizer.step()

    g_optimizer.zero_grad()
    g_loss = _bce(discriminator(fake), 1.0)
    g_loss.backward(inputs=[p for p in generator.parameters() if p.requires_grad])
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


def _bce(logits: Tensor, label: float) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, label))
