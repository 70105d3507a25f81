"""Predict without recording: `torch.no_grad`.

w requires a gradient, so PyTorch records what is done with it, and keeps numbers in memory for backward. To
predict you need no backward. Return `x @ w`, with nothing recorded.

    w = torch.tensor([2.0, 1.0], requires_grad=True)
    y = no_recording(torch.tensor([[1.0, 3.0]]), w)      # tensor([5.])
    y.requires_grad                                      # False

New here: in a block under `with torch.no_grad():` nothing is recorded. w goes on requiring a gradient.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def no_recording(x: Float[Tensor, "batch features"], w: Float[Tensor, "features"]) -> Float[Tensor, "batch"]:
    raise NotImplementedError
