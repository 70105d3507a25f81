"""Which operation made the NaN? Anomaly detection.

A gradient is NaN somewhere, and PyTorch can say where it arose. x requires a gradient. Run `fn(x)`, which
gives a loss, and its backward, both under anomaly detection, and return `x.grad`. Do not catch the error that
a NaN raises.

    four = torch.tensor(4.0, requires_grad=True)
    zero = torch.tensor(0.0, requires_grad=True)
    who_made_the_nan(lambda x: x * x.sqrt(), four)      # tensor(3.)
    who_made_the_nan(lambda x: x * x.sqrt(), zero)
    # RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th
    # output.

New here: `with torch.autograd.detect_anomaly():`. It also warns with the line of fn.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def who_made_the_nan(fn: Callable[[Tensor], Tensor], x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    raise NotImplementedError
