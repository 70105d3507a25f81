"""Batch normalisation: statistics of the batch to train with, running ones to predict with.

A batch norm normalises each feature over the batch, by (x - mean) / sqrt(variance + eps), then multiplies it by
`weight` and adds `bias`. A single row to predict for is no batch: so in training the layer keeps running averages.

    layer = BatchNorm(1, momentum=0.5)
    layer(torch.tensor([[1.0], [3.0]]))     # [[-1.0], [1.0]]: mean 2, variance (1 + 1) / 2 = 1
    # running_mean is 0.5 * 0 + 0.5 * 2 = 1, running_var is 0.5 * 1 + 0.5 * (1 + 1) / (2 - 1) = 1.5
    layer.eval()
    layer(torch.tensor([[3.0]]))            # [[1.633]]: (3 - 1) / sqrt(1.5)

- x is (batch, features, ...): statistics are taken over every dimension but 1.
- Parameters: `weight` (ones), `bias` (zeros). Buffers: `running_mean` (zeros), `running_var` (ones).
- Training: running = (1 - momentum) * running + momentum * new, the new variance divided by n - 1.
- Evaluation: the running statistics normalise, and stay as they are.
- Gradients flow to x through mean and variance too; buffers carry no graph. No loop, no norm of PyTorch's own.

Fine print:
- PyTorch divides the new running variance by n - 1, and so do we; d2l.ai's code divides it by n.
- nn.BatchNorm1d also counts its batches, in `num_batches_tracked`: here nothing else is registered.
- float16 and bfloat16 x is computed in float32 and rounded once; the result has x's dtype, also float64.
- Features near 10000 keep their digits: mean(x²) - mean² is not good enough.
- The buffers are updated in place: who holds them sees the new numbers. x stays as it is.
- On another device nothing is copied to or from the CPU.
- ValueError (RuntimeError will do), and no update: other features; in training fewer than two values of each.
"""

from jaxtyping import Float
from torch import Tensor, nn


class BatchNorm(nn.Module):
    """Normalises each feature over the batch."""

    def __init__(self, features: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self, x: Float[Tensor, "batch features *positions"]
    ) -> Float[Tensor, "batch features *positions"]:
        """Normalise x, and in training mode update the running statistics."""
        raise NotImplementedError
