"""The loss is fine, and the weights are NaN after the step: which module spoiled the gradient?

`first_bad_gradient` calls compute_loss(), which runs the model and returns a loss, goes backward from it, and returns
the name of the module that first makes a gradient NaN or inf: the gradients that come in for its outputs are finite,
and one that it hands on for its inputs is not. None if there is none.

    model = nn.Sequential(nn.Linear(2, 2), Sqrt(), nn.Linear(2, 1))
    first_bad_gradient(model, lambda: model(inputs).mean())     # "1", if it gets a 0: the root's slope is inf there

- The backward pass comes to later layers first, and to a part before the module around it.
- If the loss function makes it, no module does: None.
- Names are those of `model.named_modules()`.
- Afterwards no hook is left, also if compute_loss raises. The error reaches the caller.

Fine print:
- Full backward hooks do the job. But `nn.ReLU(inplace=True)` raises with them, and is to run as ever.
- They do not see keyword arguments, lists and dicts, in which tensors count, too.
- In x + part(x), the part answers for its own share of x's gradient.
- If no module hands one on, it is the innermost with such a gradient for a parameter, though finite ones came in.
- `.grad` of the parameters stays as it was. compute_loss runs once.
"""

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only


def first_bad_gradient(model: nn.Module, compute_loss: Callable[[], Float[Tensor, ""]]) -> str | None:
    """The name of the module that first makes a gradient NaN or inf; None if no module does."""
    raise NotImplementedError
