"""Which operations does a call run? The profiler.

PyTorch's profiler writes down every operation while a block runs. Run `fn()` once under it, and return the
names of the operations as a set: all names, as they come.

    x = torch.ones(3)
    names_in_the_profile(lambda: x.sin() + x.cos())
    # {"aten::sin", "aten::cos", "aten::add"}

New here: `with torch.profiler.profile() as profile:`. After the block, `profile.key_averages()` is a list with one entry
for each operation, and `entry.key` is its name. (aten is PyTorch's library of operations.)
"""

from collections.abc import Callable

import torch


def names_in_the_profile(fn: Callable[[], object]) -> set[str]:
    raise NotImplementedError
