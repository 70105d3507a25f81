"""The gradient of a sum of squares, without a trace on what belongs to the caller.

Least squares, whatever it is that is fitted: a function turns parameters into residuals (how far each
prediction is off), and the parameters shall move against the gradient of the residuals' sum of squares.
Autograd finds it for any function, as long as it starts from a leaf: a tensor that requires gradients and
that no operation has made.

    t, y = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([1.0, 3.0, 5.0])
    def residuals(line):
        return line[0] + line[1] * t - y

    grad_of_squares(residuals, torch.tensor([1.0, 1.0]))     # (tensor(5.), tensor([-6., -10.]))
    # residuals 0, -1, -2; by offset 2 · (0 - 1 - 2) = -6, by slope 2 · (0·0 - 1·1 - 2·2) = -10

Rules:
- residuals is called once, with a tensor of the values, shape, dtype and device of params. It returns a
  tensor of any shape (0-d and empty too) that depends on this argument and does not write to it. The gradient
  is that by the argument: where residuals looks at params as well (to stay near it), that is a constant.
- params is floating, of any shape, with any strides. In an expanded one each entry counts as a number of
  its own. It may require gradients or not, and be a leaf or the result of other operations.
- Afterwards params is as it was: its values, its `requires_grad` and its `.grad`. No gradient flows on
  to tensors that params was computed from.
- Nor does any other tensor get a gradient. residuals may use weights that require gradients:
  `value.backward()` fills their `.grad` as well, `value.backward(inputs=[leaf])` does not.
- It also works inside `with torch.no_grad():`, and this mode is still on afterwards, also where residuals
  raises an error.
- Neither result carries a graph, and a result does not change by itself when there are further calls.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def grad_of_squares(
    residuals: Callable[[Tensor], Tensor], params: Float[Tensor, "*shape"]
) -> tuple[Float[Tensor, ""], Float[Tensor, "*shape"]]:
    """The sum of the squared residuals, and its gradient.

    Args:
        residuals: maps parameters to residuals of any shape.
        params: where to take the gradient, of any shape.

    Returns:
        The sum of squares, 0-d, in the dtype of the residuals; and its gradient with respect to params,
        in the shape and dtype of params.
    """
    raise NotImplementedError
