"""A window of the past: two masks, and `&`.

Each token looks at itself and at those just before it, at most window tokens in all. Return a (time, time) mask: a
row for each token that looks, True where it may.

    a_window_mask(4, 2)
    # [[ True, False, False, False], [ True,  True, False, False],
    #  [False,  True,  True, False], [False, False,  True,  True]]

New here: of t = 0, 1, 2, …, `t.unsqueeze(1) - t` says how far back each place lies, below 0 in the future.
`(a >= 0) & (a < 5)` is True where both are; it needs the brackets.
"""

import torch
from jaxtyping import Bool
from torch import Tensor


def a_window_mask(time: int, window: int) -> Bool[Tensor, "time time"]:
    raise NotImplementedError
