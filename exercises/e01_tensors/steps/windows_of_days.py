"""Windows that overlap: `unfold`.

A thermometer wrote down a number each day. Return the weeks, of `size` days, that begin on the first day, on the
second, and so on, each as a row: as many as fit.

    days = torch.tensor([5.0, 6.0, 8.0, 7.0, 9.0])
    weeks(days, 3)      # tensor([[5., 6., 8.], [6., 8., 7.], [8., 7., 9.]])

New here: `x.unfold(0, 5, 2)` goes along dim 0 and cuts windows of 5, each of which begins 2 places behind the one
before. It copies nothing.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def weeks(days: Float[Tensor, " days"], size: int) -> Float[Tensor, "windows size"]:
    raise NotImplementedError
