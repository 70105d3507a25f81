"""Code for every device: add positions to sequences, wherever they lie and whatever their dtype.

A transformer adds a table of positions to each sequence. In row t, columns 2i and 2i + 1 hold the sine and the cosine
of the angle t / 10000 ** (2i / dim):

    add_positions(torch.zeros(1, 2, 4))
    # [[[sin 0, cos 0, sin 0.00, cos 0.00],
    #   [sin 1, cos 1, sin 0.01, cos 0.01]]]

The code below works on its author's laptop. On a GPU it raises "Expected all tensors to be on the same device", half
precision comes back as float32, and on a Mac no GPU is picked.

- `add_positions`: the result has x's dtype and is on x's device.
- `pick_device`: "cuda" before "mps" before "cpu", as `torch.cuda.is_available()` and
  `torch.backends.mps.is_available()` say at each call.
- `angle_dtype`: float64, but float32 on "mps", which has no float64.

Fine print:
- Angles, sines and cosines are computed in `angle_dtype(x.device)`, which `add_positions` asks for, and rounded to x's
  dtype at the end: angles in float32 are wrong in the fourth digit at position 4000.
- The table is made on x's device: nothing is copied between that and the CPU.
- Any number of dimensions may stand before time and dim, also none. x has any strides and stays as it is.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def pick_device() -> torch.device:
    """The best device of this machine."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def angle_dtype(device: torch.device) -> torch.dtype:
    """The widest floating dtype that a device can compute in."""
    return torch.float64


def add_positions(x: Float[Tensor, "*batch time dim"]) -> Float[Tensor, "*batch time dim"]:
    """x plus the sines and cosines of each position; `dim` is even."""
    time, dim = x.shape[-2:]
    position = torch.arange(time).unsqueeze(1)
    rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    table = torch.zeros(time, dim)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return x + table
