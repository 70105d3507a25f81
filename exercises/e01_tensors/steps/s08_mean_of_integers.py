"""Mend the mean of whole numbers: `x.float()`.

The code below raises "mean(): could not infer output dtype ... Got: Long", because whole scores (int64, or *long*) seldom
have a whole mean. Mend it: return the mean of all scores, in a row or a table, as a decimal (float32).

    mean_of_integers(torch.tensor([3, 4, 4]))      # tensor(3.6667)

New here: `x.mean()` and `x.sum()` take all numbers of x, and keep its dtype: the mean wants decimals, so convert x
before. `a / b` of whole numbers is decimal, as in Python.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def mean_of_integers(scores: Int[Tensor, "*shape"]) -> Float[Tensor, ""]:
    return scores.mean()
