"""Soft clustering that turns to NaN in its first step, though no loss was ever NaN.

Each centre moves down the gradient of `clustering_loss`: the mean distance of the points to the centres,
weighted by how much each belongs to each, plus a share of the entropy. Centres start at points of the data,
as usual.

    points = torch.tensor([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    fit(points, points[:2], steps=1)         # centres [[nan, nan], [nan, nan]], after a loss of 1.7041

    distances(points, points[:2])            # [[0, 5], [5, 0], [10, 5]]: right
    entropy(torch.tensor([0.5, 0.5, 0.0]))   # log(2) = 0.6931: right

With random starts it runs for forty steps, and is NaN from one on: a small temperature has rounded a
probability to 0. All values are right, so the `where`s below do what they are for. What do the branches that
they do not take do in the backward pass?

Rules:
- The values stay as they are, exact up to rounding: no epsilon. A distance of 1e-12 is 1e-12 and one of 0 is
  0. A probability of 1e-30 has its share in the entropy, one of 0 has none.
- The gradient of a distance is the unit vector from the centre to the point for the point, and its opposite
  for the centre, however short the distance. Where it is 0 (to the last bit) both are 0.
- The gradient of the entropy is -log(p) - 1 for each p > 0, and 0 where p is 0.
- Each point, centre and probability gets its whole gradient, whatever the others are. NaN is not hidden: a
  coordinate of NaN gives NaN for its own distances and its own gradient, a probability for the entropy of
  its row and its own gradient. A gradient of NaN that comes in for a distance above 0, or for an entropy,
  goes on to the inputs.
- float32 or float64, as the inputs; any layout in memory; inputs are not changed. distances and entropy take
  empty inputs (no points, no centres, no rows). Coordinates are at most 1e15, and no two places lie closer
  together than 1e-15 without being the same.
- No Python loops over points, centres, rows or classes.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def distances(
    points: Float[Tensor, "points dim"], centres: Float[Tensor, "centres dim"]
) -> Float[Tensor, "points centres"]:
    """The distance of each point to each centre.

    Args:
        points: coordinates, (points, dim).
        centres: coordinates, (centres, dim).

    Returns:
        Euclidean distances, (points, centres).
    """
    squared = (points[:, None, :] - centres[None, :, :]).square().sum(dim=-1)  # (points, centres)
    return torch.where(squared == 0, squared, squared.sqrt())


def entropy(probabilities: Float[Tensor, "*batch classes"]) -> Float[Tensor, "*batch"]:
    """The entropy of each row, in nats.

    Args:
        probabilities: rows that sum to one, (..., classes).

    Returns:
        The sum of -p log(p) over the last dimension.
    """
    terms = torch.where(probabilities == 0, probabilities, -probabilities * probabilities.log())
    return terms.sum(dim=-1)


def clustering_loss(
    points: Float[Tensor, "points dim"],
    centres: Float[Tensor, "centres dim"],
    temperature: float = 1.0,
    weight: float = 0.1,
) -> Float[Tensor, ""]:
    """How far the points are from the centres that they belong to, and how undecided they are.

    Args:
        points, centres: coordinates.
        temperature: the smaller, the harder each point decides.
        weight: what the entropy counts.
    """
    far = distances(points, centres)
    belongs = torch.softmax(-far / temperature, dim=1)  # (points, centres)
    return (belongs * far).sum(dim=1).mean() + weight * entropy(belongs).mean()


def fit(
    points: Float[Tensor, "points dim"],
    centres: Float[Tensor, "centres dim"],
    steps: int = 100,
    lr: float = 0.1,
    temperature: float = 1.0,
) -> Float[Tensor, "centres dim"]:
    """Move the centres by plain gradient descent, and return where they end; those given stay.

    Args:
        points: the data.
        centres: where the centres start.
        steps: how many steps.
        lr: the size of a step, in units of the gradient.
        temperature: see `clustering_loss`.
    """
    centres = centres.detach().clone().requires_grad_()
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(clustering_loss(points, centres, temperature), centres)
        with torch.no_grad():
            centres -= lr * gradient
    return centres.detach()
