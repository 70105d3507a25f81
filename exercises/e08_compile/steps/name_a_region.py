"""Give a region of your code a name in the profile.

A profile lists hundreds of operations, and does not say which belong to the attention, and which to the loss. Run `fn()` as
a region of the given name, and return what it returns.

    with torch.profiler.profile() as profile:
        name_a_region("loss", lambda: torch.ones(2).sum())      # tensor(2.)
    # "loss" is an entry of profile.key_averages(), and holds the operations
    # of the sum

New here: `with torch.profiler.record_function(name):` around the code.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def name_a_region(name: str, fn: Callable[[], Tensor]) -> Tensor:
    raise NotImplementedError
