from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def who_made_the_nan(fn: Callable[[Tensor], Tensor], x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    with torch.autograd.detect_anomaly():
        fn(x).backward()
    return x.grad
