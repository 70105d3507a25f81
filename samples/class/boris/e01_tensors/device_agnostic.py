"""Code for every device: add positions to sequences, wherever they lie and whatever their dtype.

A transformer tells positions apart by a table that it adds to each sequence. In the row of position t,
columns 2i and 2i + 1 hold the sine and the cosine of the angle t / 10000 ** (2i / dim):

    add_positions(torch.zeros(1, 2, 2))     # [[[sin 0, cos 0], [sin 1, cos 1]]]
    add_positions(torch.zeros(1, 2, 4))[0, 1]   # [sin 1, cos 1, sin 0.01, cos 0.01]

The code below works on its author's laptop. On a GPU it raises "Expected all tensors to be on the same
device"; half precision comes back as float32; at position 4000 the table is wrong in the fourth digit;
and on a Mac no GPU is ever picked.

Rules for `add_positions`: any floating dtype comes in, the same goes out. Angles, sines and cosines are
computed in the dtype that your `angle_dtype` names for the device of x, asked by `add_positions` itself,
and only then rounded to the dtype of x: so they are right to the last digits at position 4000 too. The
table is made on the device of x: nothing is copied between it and the CPU. x has any strides and is not
changed; gradients flow through to x. Sizes but `dim` may be 0.

Rules for `pick_device`: it asks `torch.cuda.is_available()` and `torch.backends.mps.is_available()`,
under these very names, and anew at each call.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def pick_device() -> torch.device:
    """The best device of this machine.

    Returns:
        "cuda" where CUDA is available, else "mps" where an Apple GPU is, else "cpu", as a `torch.device`.
    """
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def angle_dtype(device: torch.device) -> torch.dtype:
    """The widest floating dtype that a device can compute in.

    Args:
        device: any device.

    Returns:
        torch.float64, but torch.float32 on "mps", which has no float64.
    """
    return torch.float64


def add_positions(x: Float[Tensor, "*batch time dim"]) -> Float[Tensor, "*batch time dim"]:
    """Add sines and cosines of its position to every token.

    Args:
        x: embedded tokens, with any number of leading dimensions; `dim` is even.

    Returns:
        A new tensor of the shape, dtype and device of `x`.
    """
    time, dim = x.shape[-2:]
    position = torch.arange(time).unsqueeze(1)
    rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    table = torch.zeros(time, dim)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return x + table
