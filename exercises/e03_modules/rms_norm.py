"""RMS norm: every row divided by its root mean square.

Most language models since LLaMA normalise their activations with this layer. It takes off no mean and has no
bias. For x of (..., features), with the mean over the last dimension:

    y = weight * x / sqrt(mean(x²) + eps)

    layer = RMSNorm(2)
    layer(torch.tensor([[3.0, 4.0], [6.0, 8.0]]))   # each row: [0.8485, 1.1314]
    # the mean of 9 and 16 is 12.5, its root 3.5355; that of the second row is twice as large

- `weight`, (features,), is a parameter of ones at first. It is all that the layer registers and saves.
- x may have any number of dimensions in front, also none.
- Gradients flow to x, also through its root mean square, and to weight.
- No loop over rows or features, and none of PyTorch's own norm layers.

Fine print:
- float16 and bfloat16 are computed in float32, the product with weight as well, and rounded once, at the end:
  the square of 300 overflows float16. LLaMA's own code rounds before the weight, which rounds twice.
- The result has x's dtype, whatever the dtype of the weight. float64 stays float64.
- x stays as it is.
- On another device nothing is copied to or from the CPU.
- x with another number of features raises ValueError (RuntimeError will do), also where it would broadcast.
"""

from jaxtyping import Float
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """Divides each row by its root mean square."""

    def __init__(self, features: int, eps: float = 1e-6) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*shape features"]) -> Float[Tensor, "*shape features"]:
        """Normalise each row of x, (*shape, features)."""
        raise NotImplementedError
