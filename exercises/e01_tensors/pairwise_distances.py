"""Distances of all pairs, in no more memory than the result.

A search compares each query with each stored vector. Return their Euclidean distances: entry [i, j] belongs to row i of
a and row j of b. Broadcasting makes n * m * d differences on the way: 40 GB for 10,000 queries, 10,000 vectors and 100
features. A matrix product does without:

    |p - q|² = |p|² + |q|² - 2 p·q

    a = torch.tensor([[0., 0.], [3., 4.]])
    b = torch.tensor([[3., 4.], [0., 4.], [6., 8.]])
    pairwise_distances(a, b)       # [[5, 4, 10], [0, 3, 5]]

- Without `torch.cdist` and its relatives.
- Never n * m * d numbers at once; no loop over rows or features.
- Where rows are equal, rounding may leave a trace of their numbers (0.002 for those around 1), never NaN.
- Tensors all the way: training needs that (section e02).

Fine print:
- A shift of all rows changes no distance: those of 1000 + noise are as good as those of the noise.
- The gradient where two rows are equal (section e02) is that of a distance of 0, which is 0: neither NaN nor inf.
- Half precision is computed in float32 and rounded once, at the end. float64 stays float64.
- n, m and d may be 0: points without features are 0 apart.
- a and b stay as they are. On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor


def pairwise_distances(a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    """How far each row of a is from each row of b."""
    raise NotImplementedError
