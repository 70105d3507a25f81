"""Turn Celsius into Fahrenheit, all numbers at once: `x * 2 + 1`.

A weather station sends degrees Celsius, a tensor of any shape. Turn each number into Fahrenheit: multiply it by 1.8,
then add 32.

    fahrenheit(torch.tensor([0.0, 100.0, 37.0]))
    # tensor([ 32.0000, 212.0000,  98.6000])

New here: arithmetic with a tensor is done for each of its numbers: `x * 2 + 1` is a new tensor of the same shape;
`-`, `/` and `**` work alike. No loop.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def fahrenheit(celsius: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    raise NotImplementedError
