"""The gradient of a sum of squares, without a trace on what belongs to the caller.

Least squares, whatever is fitted: a function turns parameters into residuals (how far each prediction is off), and the
parameters are to move against the gradient of the sum of their squares. Return this sum and its gradient.

    t, y = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([1.0, 3.0, 5.0])
    def residuals(line):
        return line[0] + line[1] * t - y

    grad_of_squares(residuals, torch.tensor([1.0, 1.0]))     # (tensor(5.), tensor([-6., -10.]))
    # residuals 0, -1, -2; by offset 2 · (0 - 1 - 2) = -6, by slope 2 · (0·0 - 1·1 - 2·2) = -10

- residuals takes a tensor like params, and returns a tensor of any shape.
- params stays as it was: its values, its `requires_grad` and its `.grad`.

Fine print:
- params may require gradients already, may have been computed from other tensors, and have a `.grad`: all this stays.
- No other tensor gets a gradient, such as weights that residuals uses. `value.backward()` fills their `.grad` as well,
  `value.backward(inputs=[p])` and `torch.autograd.grad` do not.
- Neither result requires gradients: no graph is kept.
- It works inside `with torch.no_grad():`, too, which is still on afterwards.
- params has any shape, strides and floating dtype; where all residuals are 0, so is the gradient. residuals runs once.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def grad_of_squares(
    residuals: Callable[[Tensor], Tensor], params: Float[Tensor, "*shape"]
) -> tuple[Float[Tensor, ""], Float[Tensor, "*shape"]]:
    """The sum of the squared residuals, 0-d, and its gradient for params."""
    raise NotImplementedError
