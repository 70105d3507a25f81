"""A loss that falls to the variance of the targets, and stays there.

House prices, from a network with one output. In the first epochs the loss falls, from 9 to 1.25; then
nothing moves, and the model predicts the mean price for every house. A larger network does not help, nor
another learning rate. On a batch of one house, oddly, everything works.

    model = nn.Linear(1, 1)                              # predictions of (batch, 1)
    inputs, targets = torch.tensor([[1.0], [2.0], [3.0], [4.0]]), torch.tensor([1.0, 2.0, 3.0, 4.0])
    weighted_mse(inputs, targets)                        # 2.5 below; these predictions are perfect: 0.0
    weighted_mse(inputs, targets + 1, torch.tensor([1.0, 1.0, 1.0, 3.0]))    # 1.0
    share_within(inputs, targets, tolerance=0.5)         # 0.25 below; 1.0

Nothing raises. What is the shape of a column minus a row? Repair the functions, so that whoever calls them
next cannot fall into it either.

Rules:
- predictions, targets and weights each are (batch,) or (batch, 1), in any combination, and the i-th of one
  belongs to the i-th of the others. A batch of one is (1,) or (1, 1).
- weighted_mse is the sum of weight times squared error over the sum of the weights (of ones, where there are
  none given). Some weights may be 0, not all. The result is 0-d, in the dtype of predictions, targets and
  weights, which is float32 or float64.
- Gradients flow to predictions, targets and weights, each in the shape that it came in.
- share_within is the share of predictions that are at most `tolerance` away from their targets, as a Python
  float.
- train_step takes one step on weighted_mse and returns the loss before it, as a Python float. The model may
  give (batch, 1) or (batch,).
- Bad input raises ValueError, in all three functions, and before train_step changes a parameter: any other
  shape, such as (1, batch), (batch, 2), (batch, 1, 1) or none at all; batch sizes that differ, also where
  one is 1; an empty batch.
- Inputs are not changed. No Python loop over the batch.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

Column = Float[Tensor, "batch"] | Float[Tensor, "batch 1"]


def weighted_mse(predictions: Column, targets: Column, weights: Column | None = None) -> Float[Tensor, ""]:
    """The weighted mean of the squared errors.

    Args:
        predictions: what the model says.
        targets: what is right.
        weights: what each example counts; all the same if None.

    Returns:
        The loss, 0-d.

    Raises:
        ValueError: the shapes do not fit.
    """
    predictions, targets = _rows(predictions, targets)
    errors = (predictions - targets).square()  # (batch,)
    if weights is None:
        return errors.mean()
    weights, errors = _rows(weights, errors)
    return (weights * errors).sum() / weights.sum()


def share_within(predictions: Column, targets: Column, tolerance: float = 0.1) -> float:
    """How many of the predictions are good enough.

    Args:
        predictions: what the model says.
        targets: what is right.
        tolerance: how far a prediction may be off.

    Returns:
        A share between 0 and 1.

    Raises:
        ValueError: the shapes do not fit.
    """
    predictions, targets = _rows(predictions, targets)
    close = (predictions - targets).abs() <= tolerance
    return close.double().mean().item()


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    inputs: Float[Tensor, "batch features"],
    targets: Column,
    weights: Column | None = None,
) -> float:
    """Take one step of `optimizer` on `weighted_mse`.

    Args:
        model: maps inputs to predictions.
        optimizer: holds its parameters.
        inputs, targets, weights: a batch.

    Returns:
        The loss before the step.

    Raises:
        ValueError: the shapes do not fit.
    """
    loss = weighted_mse(model(inputs), targets, weights)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def _rows(*columns: Tensor) -> list[Tensor]:
    """Each as (batch,), once it is certain that they are of the same batch."""
    for column in columns:
        if column.dim() not in (1, 2) or column.shape[1:] not in ((), (1,)) or not len(column):
            raise ValueError(f"expected (batch,) or (batch, 1), got {tuple(column.shape)}")
    if len({len(column) for column in columns}) > 1:
        raise ValueError(f"batches of different sizes: {[tuple(column.shape) for column in columns]}")
    return [column.reshape(-1) for column in columns]
