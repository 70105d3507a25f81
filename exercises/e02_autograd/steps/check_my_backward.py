"""Is a gradient right? `gradcheck`.

Somebody wrote an operation f with a backward of its own. gradcheck compares its gradient with slopes between
points that lie close together. Return whether it is right at x: True or False.

    check_my_backward(torch.exp, torch.tensor([0.5, 2.0]))      # True

x comes in float32, too coarse for such slopes. Give gradcheck `x.double()`, which is float64, and let that
require a gradient.

New here: `gradcheck(f, (x,), raise_exception=False)` returns the bool. Without `raise_exception=False` it
raises an error where f is wrong.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import gradcheck


def check_my_backward(f: Callable[[Tensor], Tensor], x: Float[Tensor, "*shape"]) -> bool:
    raise NotImplementedError
