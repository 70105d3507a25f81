"""RMS norm: every row divided by its root mean square, exactly in any precision.

Most language models since LLaMA normalise their activations like this, with no mean and no bias:

    y = weight · x / sqrt(mean(x²) + eps)        with the mean over the last dimension

    layer = RMSNorm(2)
    layer(torch.tensor([3.0, 4.0]))       # [0.8485, 1.1314]: the mean of 9 and 16 is 12.5, its root 3.5355

Activations come in half precision. There the square of 300 overflows float16, the square of 0.0001
underflows, and a mean over 4096 numbers has lost most of its digits before it is taken.

Rules, for x of (*shape, features) with any number of dimensions in front, also none:
- `weight`, (features,), starts as ones. It is all that the layer registers and saves, so state dicts go to
  and fro between it and `nn.RMSNorm`.
- The result has the shape, dtype and device of x, whatever the dtype of the weight: a float32 layer gets
  bfloat16 activations, a bfloat16 layer float32 ones.
- float16 and bfloat16 x is computed in float32, including the product with weight, and rounded once, at the
  end. float32 is computed in float32, float64 in float64.
- float16 may be as large and as small as it gets, float32 lies between 1e-15 and 1e15 in size or is 0, and up
  to 1e10 where gradients are asked for. A row of zeros gives zeros, and a finite gradient (eps is above 0).
- Gradients flow to x (also through its root mean square) and to weight, each in its own dtype.
- Sizes in front may be 0, and x may lie in memory in any way. x is not changed, and the result has memory of
  its own. No Python loop over rows or features. No number is copied between x's device and the CPU.
- Without PyTorch's own rms_norm and layer_norm.

Bad input: x without dimensions, or with another number of features, raises ValueError.
"""

from jaxtyping import Float
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """Divides each row by its root mean square.

    Args:
        features: the size of the last dimension, 1 or more.
        eps: what is added to the mean of the squares.
    """

    def __init__(self, features: int, eps: float = 1e-6) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*shape features"]) -> Float[Tensor, "*shape features"]:
        """Normalise each row.

        Args:
            x: the activations, (*shape, features).

        Returns:
            The normalised activations, in the shape, dtype and device of `x`.

        Raises:
            ValueError: x has no dimensions, or another number of features.
        """
        raise NotImplementedError
