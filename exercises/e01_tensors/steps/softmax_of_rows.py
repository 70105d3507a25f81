"""Scores become probabilities: `softmax`.

A model's scores may be any numbers. Softmax makes probabilities of them: in each row all are positive, and their sum is 1.
Return them, and their logarithms.

    probabilities, logs = softmax_of_rows(
        torch.tensor([[0.0, 0.0], [1.0, 3.0]]))
    probabilities      # [[0.5, 0.5], [0.1192, 0.8808]]
    logs               # [[-0.6931, -0.6931], [-2.1269, -0.1269]]

- The scores stand along the last dim; any dims may come before it.

New here: `x.softmax(dim=0)` goes along dim 0, and `dim=-1` is always the last dim. `x.log_softmax(dim=0)` gives the
logarithms.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def softmax_of_rows(
    scores: Float[Tensor, "*batch classes"],
) -> tuple[Float[Tensor, "*batch classes"], Float[Tensor, "*batch classes"]]:
    raise NotImplementedError
