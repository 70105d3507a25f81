"""Is a gradient right? `gradcheck`.

Somebody wrote an operation f with a backward of its own. gradcheck compares its gradient with slopes between
points that lie close together. Return whether it is right at x: True or False.

    check_my_backward(torch.exp, torch.tensor([0.5, 2.0]))      # True

x comes in float32, in which such slopes are mostly rounding: give gradcheck float64, and a tensor that
requires a gradient.

New here: `gradcheck(f, (x,), raise_exception=False)` returns the bool; without the last part it raises an
error where f is wrong.
"""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor
from torch.autograd import gradcheck


def check_my_backward(f: Callable[[Tensor], Tensor], x: Float[Tensor, "*shape"]) -> bool:
    raise NotImplementedError
