"""Group norm: pictures that are normalised alone, a few channels at a time.

Batch norm needs large batches, which detection and diffusion models cannot afford. Group norm takes mean and variance
from one example: over a group of channels and all of their positions.

    layer = GroupNorm(2, 4)      # 2 groups of 2 channels
    layer(torch.tensor([[[1., 3.], [5., 7.], [0., 2.], [3., 7.]]]))
    # [[[-1.3416, -0.4472], [0.4472, 1.3416], [-1.1767, -0.3922], [0, 1.5689]]]: mean 4, variance 5; mean 3, variance 6.5

- x is (batch, channels, ...), with any number of positions behind, or none. Channels of a group are neighbours.
- y = (x - mean) / sqrt(variance + eps) * weight + bias; the variance divides by n. Training and evaluation are one.
- Parameters, a number for each channel: `weight`, of ones at first, and `bias`, of zeros. Nothing else is registered.
- Gradients flow to x, also through mean and variance, and to weight and bias.
- No norm of PyTorch's own, and no loop.

Fine print:
- float16 and bfloat16 x is computed in float32 and rounded once, behind weight and bias.
- The result has x's dtype; a layer in float64 keeps float64.
- Numbers near 10000 keep their digits: mean(x²) - mean² is not good enough.
- x may have any strides, and stays as it is. No pictures give no results.
- On another device nothing is copied to or from the CPU.
- ValueError where channels are no multiple of groups, when the layer is built; and (RuntimeError will do) where x has
  another number of channels.
"""

from jaxtyping import Float
from torch import Tensor, nn


class GroupNorm(nn.Module):
    """Normalises each group of channels of each example."""

    def __init__(self, groups: int, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self, x: Float[Tensor, "batch channels *positions"]
    ) -> Float[Tensor, "batch channels *positions"]:
        """Normalise x, (batch, channels, *positions)."""
        raise NotImplementedError
