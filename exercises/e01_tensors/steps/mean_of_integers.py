"""Mend the mean of whole numbers: `x.float()`.

The code below raises "mean(): could not infer output dtype ... Got: Long": whole scores (int64, or *long*)
seldom have a whole mean. Return the mean of all scores, a row or table, as a decimal (float32).

    mean_of_integers(torch.tensor([3, 4, 4]))      # tensor(3.6667)

New here: `x.mean()` and `x.sum()` take all numbers of x. The mean keeps the dtype, so it wants decimals:
convert x before. `a / b` is always decimal. In the signature, `""` is a single number, without dims.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def mean_of_integers(scores: Int[Tensor, "*shape"]) -> Float[Tensor, ""]:
    return scores.mean()
