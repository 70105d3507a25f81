"""How many predictions are right: `==`, then `mean`.

A model has guessed labels. Write two functions: one returns the share of guesses that equal the true labels,
a Python number; the other whether all do, a Python bool.

    guesses, labels = torch.tensor([2, 0, 1, 1]), torch.tensor([2, 0, 0, 1])
    share_right(guesses, labels)      # 0.75
    all_right(guesses, labels)        # False

New here: `a == b` compares place by place, and gives True or False for each. `.float()` makes 1.0 and 0.0 of
them. `x.all()` is true where all are, `x.any()` where one is. `.item()` makes a Python number or bool of the
result.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def share_right(guesses: Int[Tensor, " n"], labels: Int[Tensor, " n"]) -> float:
    raise NotImplementedError


def all_right(guesses: Int[Tensor, " n"], labels: Int[Tensor, " n"]) -> bool:
    raise NotImplementedError
