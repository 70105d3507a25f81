"""An `if` on a tensor breaks the graph.

While PyTorch writes down the graph, tensors have no numbers yet, so Python cannot decide `if x.sum() > 0`. Mend the code:
it is to give the same, and to compile in one graph.

    no_if_on_a_tensor(torch.tensor([1.0, 2.0]))
    # sum above 0: tensor([1., 2.])
    no_if_on_a_tensor(torch.tensor([1.0, -3.0]))
    # else, -x:    tensor([-1., 3.])

New here: `torch.where(condition, a, b)` stays in the graph. The condition may be a tensor with a single True
or False, such as `x.sum() > 0`.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def no_if_on_a_tensor(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    if x.sum() > 0:
        return x
    return -x
