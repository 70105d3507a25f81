"""Choose between two tensors, number by number: `torch.where`.

There are two forecasts for each hour, a and b, and a tensor of True and False. Return the number of a where `condition`
is True, and the number of b where it is False. All three have one shape, a row or a table.

    condition = torch.tensor([True, False, True])
    either_or(condition, torch.tensor([1, 2, 3]), torch.tensor([10, 20, 30]))
    # tensor([ 1, 20,  3])

New here: `torch.where(mask, x, y)` takes x where the mask is True, and y elsewhere. Python's `if` wants one True or
False, and cannot do this.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def either_or(
    condition: Bool[Tensor, "*shape"], a: Int[Tensor, "*shape"], b: Int[Tensor, "*shape"]
) -> Int[Tensor, "*shape"]:
    raise NotImplementedError
