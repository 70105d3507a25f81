"""A weighted squared error: (batch,) against (batch, 1) silently becomes (batch, batch).

A regression head ends in a linear layer with one output, so predictions are (batch, 1), while
targets and weights come from columns of a table and are (batch,). The loss is the weighted mean

    sum over i of weights[i] * (predictions[i, 0] - targets[i])²   /   sum over i of weights[i]

    predictions = torch.tensor([[1.0], [2.0], [3.0]])
    targets = torch.tensor([1.0, 2.0, 5.0])
    weights = torch.tensor([1.0, 2.0, 1.0])
    weighted_mse(predictions, targets, weights)     # (0 + 0 + 4) / 4 = 1.0

The first try at this raised nothing and trained, but the model learnt to predict the mean of all
targets, whatever its input: each prediction was compared with the targets of all other rows.

Rules: the result is 0-d, in the dtype of the three inputs (float32 or float64) and on their device.
Gradients flow to all three. Any batch of at least one row, any strides. The inputs are not changed,
neither their values nor their shapes. Memory grows in proportion to batch (no (batch, batch) tensor
on the way), and there is no Python loop over rows.

Bad input: nothing may be broadcast silently. Unless predictions is exactly (batch, 1), targets
exactly (batch,) and weights exactly (batch,), with the same batch, raise ValueError.
"""

from jaxtyping import Float
from torch import Tensor


def weighted_mse(
    predictions: Float[Tensor, "batch 1"], targets: Float[Tensor, "batch"], weights: Float[Tensor, "batch"]
) -> Float[Tensor, ""]:
    """The weighted mean of the squared errors.

    Args:
        predictions: what the model says, (batch, 1).
        targets: what it should say, (batch,).
        weights: how much each row counts, (batch,); positive.

    Returns:
        The loss, 0-d.

    Raises:
        ValueError: a shape is none of these, or the batch sizes differ.
    """
    batch = len(targets) if targets.ndim == 1 else None
    if batch is None or weights.shape != (batch,) or predictions.shape != (batch, 1):
        shapes = ", ".join(str(tuple(x.shape)) for x in (predictions, targets, weights))
        raise ValueError(f"want (batch, 1), (batch,) and (batch,), got {shapes}")
    errors = predictions.squeeze(1) - targets  # (batch,)
    return (weights * errors**2).sum() / weights.sum()
