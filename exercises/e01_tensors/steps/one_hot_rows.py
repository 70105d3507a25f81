"""Labels as rows of 0s with a single 1: `one_hot`.

A label from 0 to classes - 1 is to be a row of `classes` numbers: a 1 in the place that the label names, and
0 everywhere else. The result may have any dtype (`Num`: whole or decimal).

    one_hot_rows(torch.tensor([2, 0]), 4)
    # tensor([[0, 0, 1, 0], [1, 0, 0, 0]])

New here: `F.one_hot(labels, num_classes=9)` makes rows of 9; `F` is `torch.nn.functional`. Without
`num_classes` the largest label decides how long they are, and without the last class they are too short.
"""

import torch
from jaxtyping import Int, Num
from torch import Tensor
from torch.nn import functional as F


def one_hot_rows(labels: Int[Tensor, " n"], classes: int) -> Num[Tensor, "n classes"]:
    raise NotImplementedError
