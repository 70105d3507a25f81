"""Logistic regression by hand: the forward pass, and every factor of the chain rule.

One neuron tells spam from mail. It computes z = x · w + b, a probability a = σ(z) = 1 / (1 + exp(-z)) and,
where y is the label, the loss L = -(y ln a + (1 - y) ln(1 - a)). `backward()` walks the same way back and
multiplies what it meets: ∂L/∂w = ∂L/∂a · ∂a/∂z · ∂z/∂w. Do its work once, without it:

    x, y = torch.tensor([[1.1]]), torch.tensor([1.0])      # one message with one feature; it is spam
    s = logistic_by_hand(x, torch.tensor([2.2]), torch.tensor(0.0), y)
    s.z, s.a, s.loss                      # [2.42], [0.9183], [0.0852]
    s.dloss_da, s.da_dz, s.dloss_dz       # [-1.0889], [0.0750], [-0.0817]
    s.dz_dw, s.dz_db                      # [[1.1]], [1.0]
    s.dw, s.db                            # [-0.0898], -0.0817

- Each field has an entry (dz_dw a row) for each message. Only dw and db, which all messages share, are gradients
  of the mean loss.
- y is any number from 0 to 1.
- No `backward`, no `torch.autograd`, no `torch.func`; what computes values is welcome, such as `torch.sigmoid`.

Fine print:
- Where |z| is in the tens or hundreds, a rounds to 0 or 1. There dloss_dz, dw and db are right all the same: multiply
  ∂L/∂a and ∂a/∂z on paper first, much cancels. The loss and dloss_da may be inf or NaN.
- No Python loop over messages or features.
- The inputs may require gradients: no field does, and the inputs and their `.grad` stay as they are.
- All fields have the dtype of the inputs, float32 or float64, and their device; any strides.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Steps(NamedTuple):
    """What the forward pass computes, and the derivatives on the way back."""

    z: Float[Tensor, "batch"]
    a: Float[Tensor, "batch"]
    loss: Float[Tensor, "batch"]
    dloss_da: Float[Tensor, "batch"]
    da_dz: Float[Tensor, "batch"]
    dloss_dz: Float[Tensor, "batch"]
    dz_dw: Float[Tensor, "batch features"]
    dz_db: Float[Tensor, "batch"]
    dw: Float[Tensor, "features"]
    db: Float[Tensor, ""]


def logistic_by_hand(
    x: Float[Tensor, "batch features"],
    w: Float[Tensor, "features"],
    b: Float[Tensor, ""],
    y: Float[Tensor, "batch"],
) -> Steps:
    """Loss and derivatives of a logistic neuron for the messages in the rows of x."""
    raise NotImplementedError
