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

Rules:
- By hand means without autograd: no `backward`, no `torch.autograd`, no `torch.func`. What computes values
  may be used, such as `torch.sigmoid`.
- Each field has one entry (for dz_dw one row) for each message, except for dw and db. All messages share
  w and b, so these two are the gradients of the mean of the loss over the batch.
- y may be any number from 0 to 1. All inputs have one dtype, float32 or float64, and one device; so do all
  fields. Any strides, at least one message, no Python loop over messages or features.
- No field requires gradients or carries a graph, even if the inputs do. The inputs and their `.grad` stay as
  they are.
- Where |z| is in the tens or hundreds, a rounds to 0 or 1. The loss and dloss_da may be inf or NaN there, but
  z, a, da_dz, dloss_dz, dw and db have to be right. Multiply ∂L/∂a and ∂a/∂z on paper first: much cancels.
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
    """Loss and derivatives of a logistic neuron.

    Args:
        x: one message a row, (batch, features).
        w: the weights, (features,).
        b: the bias, 0-d.
        y: the labels, from 0 to 1, (batch,).

    Returns:
        Every step; dw and db are the gradients of the mean loss.
    """
    raise NotImplementedError
