"""A target that must not learn: `detach`.

A prediction and a target both come from weights that learn. The loss is the mean of the squares of their
differences. Its backward is to move the prediction toward the target, and never the target.

    w = torch.tensor([2.0], requires_grad=True)
    loss = a_fixed_target(3 * w, w + 1)
    # tensor(9.): (6 - 3) ** 2
    loss.backward()
    w.grad
    # tensor([18.]): nothing comes through w + 1

New here: `y.detach()` has the numbers of y, and is cut off from the graph: for backward they are constants.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def a_fixed_target(prediction: Float[Tensor, "n"], target: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    raise NotImplementedError
