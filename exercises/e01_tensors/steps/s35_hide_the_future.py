"""Hide what lies above the diagonal: `triu`, `masked_fill`.

Row i of a table holds how much word i looks at each word. A word must not look at later ones. Put -inf, minus infinity,
above the diagonal; the rest stays.

    scores = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    hide_the_future(scores)      # [[1, -inf, -inf], [4, 5, -inf], [7, 8, 9]]

New here: `mask.triu(k)` makes False what lies below the k-th diagonal: 0 is the main one, 1 the next above.
`torch.ones(n, n, dtype=torch.bool)` is a mask. `x.masked_fill(mask, float("-inf"))` fills where it is True.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def hide_the_future(scores: Float[Tensor, "time time"]) -> Float[Tensor, "time time"]:
    raise NotImplementedError
