"""A weighted squared error: (batch,) against (batch, 1) silently becomes (batch, batch).

A regression head ends in a linear layer with one output, so that predictions are (batch, 1); targets and weights are
columns of a table, (batch,). The loss, a single number, is the weighted mean

    sum over i of weights[i] * (predictions[i, 0] - targets[i])²   /   sum over i of weights[i]

    predictions = torch.tensor([[1.0], [2.0], [3.0]])
    targets = torch.tensor([1.0, 2.0, 5.0])
    weights = torch.tensor([1.0, 1.0, 2.0])
    weighted_mse(predictions, targets, weights)     # (0 + 0 + 2 · 4) / 4 = 2.0

The code below raises nothing and trains, but the model learns to predict the mean of all targets, whatever its input.

- No Python loop over rows. Tensors all the way, no NumPy and no Python numbers: training needs that (section e02).

Fine print:
- Shapes other than exactly (batch, 1), (batch,) and (batch,) raise ValueError: nothing is broadcast silently.
- No (batch, batch) tensor is made on the way: memory grows in proportion to batch.
- Gradients (section e02) flow to targets and weights as well.
- The loss has the inputs' dtype, float32 or float64, and their device; no number goes to the CPU on the way.
- The inputs stay as they are, in values and in shape.
"""

from jaxtyping import Float
from torch import Tensor


def weighted_mse(
    predictions: Float[Tensor, "batch 1"], targets: Float[Tensor, "batch"], weights: Float[Tensor, "batch"]
) -> Float[Tensor, ""]:
    """The weighted mean of the squared errors, 0-d."""
    errors = predictions - targets
    return (weights * errors**2).sum() / weights.sum()
