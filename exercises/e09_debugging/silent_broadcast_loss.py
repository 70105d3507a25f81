"""A loss that falls to the variance of the targets, and stays there.

House prices, from a network with one output. The loss falls to 1.25, and the model predicts the mean price for every
house. On a batch of one house, oddly, everything works. Nothing raises, so what is the shape of a column minus a row?

    predictions = torch.tensor([[1.0], [2.0], [3.0], [4.0]])           # (4, 1), as a model with one output gives them
    targets = torch.tensor([1.0, 2.0, 3.0, 4.0])                       # (4,)
    weighted_mse(predictions, targets)                                 # 2.5 below; they are perfect: 0.0
    weighted_mse(predictions, targets + 1, torch.tensor([1.0, 1.0, 1.0, 3.0]))     # 1.0
    share_within(predictions, targets, tolerance=0.5)                  # 0.25 below; 1.0

Repair both functions:

- Predictions, targets and weights are each (batch,) or (batch, 1), in any combination: row i belongs to row i.
- Batches of different sizes raise ValueError (or RuntimeError), also where one has size 1. F.mse_loss only warns.
- The loss is the sum of weight times squared error over the sum of the weights; the share is a float.

Fine print:
- Any other shape raises as well: (1, batch), (batch, 2), (batch, batch), (batch, 1, 1), a single number.
- float64 stays float64. Inputs stay as they are. No loop over the batch.
"""

import torch
from jaxtyping import Float
from torch import Tensor

Column = Float[Tensor, "batch"] | Float[Tensor, "batch 1"]


def weighted_mse(predictions: Column, targets: Column, weights: Column | None = None) -> Float[Tensor, ""]:
    """The weighted mean of the squared errors; without weights, all count the same."""
    errors = (predictions - targets).square()
    if weights is None:
        return errors.mean()
    return (weights * errors).sum() / weights.sum()


def share_within(predictions: Column, targets: Column, tolerance: float = 0.1) -> float:
    """The share of predictions that are at most `tolerance` away from their targets."""
    close = (predictions - targets).abs() <= tolerance
    return close.double().mean().item()
