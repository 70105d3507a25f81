"""Hide what lies above the diagonal: `triu`, `masked_fill`.

Row i holds how much word i looks at each word; `time time` means as many rows as columns. No word may look at
later ones: put -inf, minus infinity, above the diagonal.

    scores = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    hide_the_future(scores)      # [[1, -inf, -inf], [4, 5, -inf], [7, 8, 9]]

New here: `mask.triu(k)` keeps the k-th diagonal and all above it, and makes the rest False: 0 is the main
one, 1 the next above. `torch.ones(n, n, dtype=torch.bool)` is a mask. `x.masked_fill(mask, float("-inf"))`
fills where it is True.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def hide_the_future(scores: Float[Tensor, "time time"]) -> Float[Tensor, "time time"]:
    raise NotImplementedError
