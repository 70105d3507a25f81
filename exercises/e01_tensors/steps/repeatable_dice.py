"""Throw dice that can be thrown again: seeds.

An experiment with dice is to be repeated exactly. Return n throws of a die, whole numbers from 1 to 6. The
same seed gives the same throws, another seed gives others.

    dice(4, seed=0)      # for instance tensor([3, 4, 6, 1])
    dice(4, seed=0)      # the same four again

New here: `gen = torch.Generator().manual_seed(7)` is a source of numbers that look random.
`torch.randint(0, 9, (4,), generator=gen)` draws four from 0 to 8: the upper end is left out. `torch.randn`
draws decimals around 0 likewise.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def dice(n: int, seed: int) -> Int[Tensor, " n"]:
    raise NotImplementedError
