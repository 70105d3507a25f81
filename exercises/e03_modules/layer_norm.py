"""Layer norm over any number of last dimensions.

Each example is normalised by its own mean and variance, so that a batch of one is as good as any. A token has one
dimension to normalise over, a picture may have three: `shape` says which.

    y = (x - mean) / sqrt(variance + eps) * weight + bias

    x = torch.tensor([[1., 3.], [5., 7.]])
    layer_norm(x, (2,))       # [[-1, 1], [-1, 1]]: each row for itself
    layer_norm(x, (2, 2))     # [[-1.3416, -0.4472], [0.4472, 1.3416]]: mean 4, variance 5

- Mean and variance are taken over the last len(shape) dimensions together; those have the sizes of `shape`.
- The variance is that of all numbers at hand: divide by n, not n - 1.
- weight and bias, both of `shape`, may each be left out.
- Gradients flow to x, also through mean and variance, and to weight and bias.
- No norm of PyTorch's own, and no loop.

Fine print:
- float16 and bfloat16 are computed in float32, weight and bias as well, and rounded once, at the end.
- The result has x's dtype, whatever that of weight and bias. float64 stays float64.
- Numbers near 10000 keep their digits: mean(x²) - mean² is not good enough.
- x may have any strides, and stays as it is. No examples give no results.
- On another device nothing is copied to or from the CPU.
- ValueError (RuntimeError will do) where x does not end in `shape`, or weight or bias has another one.
"""

from jaxtyping import Float
from torch import Tensor


def layer_norm(
    x: Float[Tensor, "*sizes"],
    shape: tuple[int, ...],
    weight: Float[Tensor, "*shape"] | None = None,
    bias: Float[Tensor, "*shape"] | None = None,
    eps: float = 1e-5,
) -> Float[Tensor, "*sizes"]:
    """Normalise each example over its last dimensions, of sizes `shape`."""
    raise NotImplementedError
