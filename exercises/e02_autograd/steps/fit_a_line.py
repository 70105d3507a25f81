"""Fit a line: gradient descent by hand.

Find w and b, so that `w * x + b` comes near y. Start with both at 0. Then do 100 times: compute the mean of
`(w * x + b - y) ** 2`, go backward, take rate times its gradient away from each, and clear both gradients.
Return w and b as they are, two tensors.

    x = torch.tensor([0.0, 1.0, 2.0])
    fit_a_line(x, 2 * x + 1, 0.1)
    # (tensor(1.9993), tensor(1.0009)), nearly 2 and 1
    # printed here without requires_grad=True

New here: nothing but the whole of it. `torch.tensor(0.0, requires_grad=True)` makes w; change it as in
one_step_downhill, under `with torch.no_grad():`.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def fit_a_line(
    x: Float[Tensor, "n"], y: Float[Tensor, "n"], rate: float
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    raise NotImplementedError
