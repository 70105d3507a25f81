"""Scale by the training rows: `std`.

Features train better with a mean of 0 and a standard deviation of 1. Subtract from each column its mean, and
divide by its standard deviation. The test rows stand for data to come: use the training rows' mean and std
for the test rows, too. No column is constant.

    train = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    # means 2 and 20, std 1 and 10
    scale_by_the_training_rows(train, torch.tensor([[4.0, 20.0]]))
    # (tensor([[-1., -1.], [0., 0.], [1., 1.]]), tensor([[2., 0.]]))

New here: `x.std(dim=0)` is the standard deviation of each column.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def scale_by_the_training_rows(
    train: Float[Tensor, "rows columns"], test: Float[Tensor, "others columns"]
) -> tuple[Float[Tensor, "rows columns"], Float[Tensor, "others columns"]]:
    raise NotImplementedError
