"""Inputs and what follows: next-token targets.

A language model reads a row of tokens (numbers that stand for pieces of text), and at each place predicts the token
that comes next. Make one row of tokens into its inputs and its targets.

    inputs_and_what_follows(torch.tensor([7, 3, 9, 4]))
    # (tensor([7, 3, 9]), tensor([3, 9, 4]))
    # at 7 the model is to say 3, at 3 it is to say 9, at 9 it is to say 4

New here: the targets need no labels: they are the tokens themselves, one place on. Two slices do it.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def inputs_and_what_follows(tokens: Int[Tensor, "n"]) -> tuple[Int[Tensor, "n-1"], Int[Tensor, "n-1"]]:
    raise NotImplementedError
