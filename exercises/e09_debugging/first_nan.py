"""NaN in the loss at step 40: which module made it?

NaN spreads: one number is enough, and everything after it is NaN. `first_nan` runs model(inputs) and returns the name
of the first module whose output holds NaN or inf. All later ones only hand it on. None if there is none.

    model = nn.Sequential(nn.Linear(2, 2), Log(), nn.Linear(2, 1))
    first_nan(model, inputs)         # "1", if layer 0 gives Log a negative number; "2" and the model are NaN as well
    first_nan(healthy, inputs)       # None

- A module that returns earlier comes first: a part before the module around it.
- Names are those of `model.named_modules()`: "encoder.2"; "" is the model, which its own code may make the first.
- An output may be a tensor, or a tuple of tensors.
- Afterwards no hook is left, also if the model raises. The error reaches the caller.

Fine print:
- A module that was given NaN or inf is not to blame. If code between two modules makes it, the module around them is.
- ValueError if the inputs hold NaN or inf already.
- Arguments and outputs may be lists and dicts too, also nested, and keyword arguments.
- Large numbers are finite: a sum over them may overflow.
- The model runs once, in its mode.
"""

from functools import partial

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def first_nan(model: nn.Module, inputs: Shaped[Tensor, "..."]) -> str | None:
    """The name of the first module whose output holds NaN or inf; None if all is finite."""
    raise NotImplementedError
