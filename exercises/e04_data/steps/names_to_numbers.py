"""Names to class numbers: labels start at 0.

cross_entropy wants the classes as numbers 0, 1, 2, … Number the names in alphabetical order, and return the number
of each.

    names_to_numbers(["dog", "cat", "dog", "ant"])
    # tensor([2, 1, 2, 0]): ant is 0, cat 1, dog 2

New here: `sorted(set(names))` lists every name once, in alphabetical order; `classes.index(name)` is the place of a
name in a list of classes, counted from 0.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def names_to_numbers(names: list[str]) -> Int[Tensor, "rows"]:
    raise NotImplementedError
