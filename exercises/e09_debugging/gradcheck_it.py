"""Which backward is wrong?

Somebody wrote a dozen functions with a backward of their own, and training has become strange. A backward can be
compared with differences: (f(x + h) - f(x - h)) / 2h, number by number. `wrong_backwards` tells which functions fail:

    functions = {"cube": Cube.apply, "sine": Sine.apply}             # the backward of Cube gives 2 * x**2 * grad
    wrong_backwards(functions, [torch.tensor([0.5, 2.0])])           # ["cube"]

- Each function is called with all inputs. Its backward is right if the gradients for all of them are.
- The names are given in the order of `functions`; an empty list if all are right.
- Inputs may be float32, whose rounding drowns such small differences: compare in float64.
- A backward that is off by 2 percent is wrong. `torch.autograd.gradcheck` may do the work.

Fine print:
- Inputs of whole numbers, such as indices, are handed on as they are, and have no gradient.
- A backward that raises an error, say about a shape, is wrong as well.
- The caller's inputs stay as they are: values, `requires_grad` and `grad`, also where they are float64 already.
"""

from collections.abc import Callable, Mapping, Sequence

from jaxtyping import Shaped
from torch import Tensor


def wrong_backwards(
    functions: Mapping[str, Callable[..., Tensor]], inputs: Sequence[Shaped[Tensor, "..."]]
) -> list[str]:
    """The names of the functions whose backward does not give the gradient of their forward."""
    raise NotImplementedError
