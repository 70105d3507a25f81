"""Soft clustering that turns to NaN in its first step, though no loss was ever NaN.

Centres move down the gradient of their distances from the points, and of the entropy of who belongs where. Those that
start at a point are NaN at once, others as soon as a softmax rounds a probability to 0.

    points = torch.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    distances(points, torch.zeros(1, 2)).sum().backward()     # [[0.], [5.]]: right
    points.grad                                               # [[0.0, 0.0], [0.6, 0.8]]; as it stands [[nan, nan], …]
    logits = torch.tensor([0.0, math.log(3.0), -200.0], requires_grad=True)
    entropy(logits.softmax(0)).backward()                     # 0.5623: right
    logits.grad                                               # [0.2060, -0.2060, 0.0]; as it stands all NaN

All values are right. What do the branches not taken do in backward?

- The gradient of a distance of 0 is 0. Others stay the unit vector from the centre to the point.
- For a probability of 0 the gradient is finite. Others stay -log(p) - 1.
- No share is lost: a point may lie at one centre, far from others.

Fine print:
- No epsilon: a distance of 0 is 0, one of 1e-12 is 1e-12, and p = 1e-30 has its share. The gradient at p = 0 is 0.
- NaN is not hidden: a coordinate or probability of NaN gives NaN, for its own distances or row.
- float64 stays float64. Inputs stay as they are.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def distances(
    points: Float[Tensor, "points dim"], centres: Float[Tensor, "centres dim"]
) -> Float[Tensor, "points centres"]:
    """The Euclidean distance of each point to each centre."""
    squared = (points[:, None, :] - centres[None, :, :]).square().sum(dim=-1)  # (points, centres)
    return torch.where(squared == 0, squared, squared.sqrt())


def entropy(probabilities: Float[Tensor, "*batch classes"]) -> Float[Tensor, "*batch"]:
    """The entropy of each row, in nats: the sum of -p log(p) over the last dimension."""
    terms = torch.where(probabilities == 0, probabilities, -probabilities * probabilities.log())
    return terms.sum(dim=-1)
