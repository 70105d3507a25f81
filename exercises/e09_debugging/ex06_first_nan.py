"""NaN in the loss at step 40: which module made it?

`first_nan` runs one forward and one backward pass, and names the first module that emits NaN or inf though
it got none. All those after it only hand it on.

    model = nn.Sequential(nn.Linear(2, 2), Log(), nn.Linear(2, 1))
    first_nan(model, lambda: model(inputs).mean())     # Culprit("forward", "1"): the log of a negative number

Rules:
- `compute_loss()` calls the model, once or more often, and returns a loss without dimensions. It runs once.
- The result is None if the loss and the gradients of all parameters that require one are finite. What passes
  between the modules is then as it should be, also scores that are masked with -inf.
- Otherwise it is the first of these that applies:
  1. Culprit("forward", name): a call of a module that returns NaN or inf, though no tensor among its
     arguments held any as it began. Of several such calls the one that returned first.
  2. Culprit("outside", ""): the loss is NaN or inf. The data or the loss function must be to blame.
  3. Culprit("backward", name): a call that hands on NaN or inf as the gradient for a tensor among its
     arguments, though the gradients that came in, for the tensors that it returned, were finite. Of several
     the one that the backward pass comes to first; of two within each other the inner one.
  4. Culprit("parameter", name): the first in `model.named_parameters()` that has such a gradient.
- Parameters and buffers are no arguments. Arguments may be keyword arguments, and arguments and results may
  be tuples (NamedTuples too), lists and dicts, also nested. A gradient for an argument is what this call adds
  to it: in `x + part(x)` the sum's own share is not the part's. Names are those of `model.named_modules()`:
  '' is the model, a shared module has its first. Every one of its calls counts.
- A loss without a graph, or a model without parameters that require a gradient, has no backward pass to
  judge.
- Modules that work in place on what others return, as `nn.ReLU(inplace=True)`, run as ever, also where only
  the argument is used afterwards, and so does a model that catches the error of a part and goes on. Whether 3
  finds a call that writes into its argument is left open.
- Afterwards, also if `compute_loss` raises (the error reaches the caller as it is), the model is as before:
  hooks, modes, `.grad` of the parameters (which may hold anything, NaN too), values of parameters and
  buffers, such as running statistics, whoever has changed them.
- Numbers are judged as they are, complex ones too: a sum of large ones may overflow.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only


class Culprit(NamedTuple):
    """Where it went wrong ("forward", "backward", "outside", "parameter"), and the name of who did it."""

    where: str
    name: str


def first_nan(model: nn.Module, compute_loss: Callable[[], Tensor]) -> Culprit | None:
    """Find what first emits NaN or inf, in the forward pass or in the backward pass.

    Args:
        model: any module.
        compute_loss: calls it and returns the loss.

    Returns:
        The culprit, or None if loss and gradients are finite.
    """
    raise NotImplementedError
