"""A residual block: two convolutions add to a picture what they find.

A ResNet is a stack of these. The sum hands gradients straight through, so that fifty layers still train:

    y = relu(bn1(conv1(x)))
    return relu(bn2(conv2(y)) + shortcut)

    block = ResidualBlock(1, 1).eval()    # say that conv1 doubles each number, and conv2 halves it
    block(torch.tensor([[[[1., -3.], [2., 0.5]]]]))    # [[[[2, 0], [4, 1]]]]: relu of [[1, 0], [2, 0.5]] + x

- `conv1`, of channels to filters, and `conv2`, of filters to filters: 3 × 3, padding 1, no bias. `stride` is conv1's.
- `bn1` and `bn2` are nn.BatchNorm2d.
- The shortcut is x itself. Where the sum needs another shape (stride is not 1, or channels are not filters), it is
  `downsample(x)`: an nn.Sequential of a 1 × 1 convolution with this stride, without bias, and an nn.BatchNorm2d.
- Nothing else has parameters: weights of torchvision's ResNets fit.
- x stays as it is: others may need it.

Fine print:
- Without need there is no downsample, so that its names are not in the state dict.
- Each batch norm sees each batch once.
- Cast with `.to`, the block works in float64. On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor, nn


class ResidualBlock(nn.Module):
    """The basic block of ResNet-18 and ResNet-34."""

    def __init__(self, channels: int, filters: int, stride: int = 1) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch filters high wide"]:
        """Add what both convolutions find to the shortcut."""
        raise NotImplementedError
