"""The worked example of two_optimizers."""

import torch
from torch import nn

from grader.checks import expect_close, expect_number


def test_worked_example(answer):
    """The worked example of the statement comes out: both losses, and both weights after the step."""
    generator, discriminator = (nn.Linear(1, 1, bias=False) for _ in range(2))
    nn.init.ones_(generator.weight)
    nn.init.zeros_(discriminator.weight)
    optimizers = [torch.optim.SGD(net.parameters(), lr=1.0) for net in (generator, discriminator)]
    real, noise = torch.tensor([[2.0]]), torch.tensor([[1.0]])
    d_loss, g_loss = answer.gan_step(generator, discriminator, *optimizers, real, noise)
    expect_number(d_loss, 1.3862944, "d_loss of gan_step(…)")
    suspects = {"g_loss is taken with the discriminator as it was before its step": lambda: 0.6931472}
    expect_number(g_loss, 0.4740770, "g_loss of gan_step(…)", suspects=suspects)
    weight = discriminator.weight.detach()
    expect_close(weight, torch.tensor([[0.5]]), "the discriminator's weight after gan_step(…)")
    weight = generator.weight.detach()
    expect_close(weight, torch.tensor([[1.1887703]]), "the generator's weight after gan_step(…)")
