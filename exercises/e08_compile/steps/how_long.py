"""How long does a call take?

The first call of a function is often slow: something is loaded, compiled or allocated for it. So call `fn()` once
without timing it, to warm up. Then call it once more, and return how many seconds that took.

    # fn() takes 2 seconds at its first call, and 0.5 seconds at every later
    # one
    how_long(fn)        # 0.5

- Read the time by `clock()`.

New here: `time.perf_counter()`, here the default `clock`, tells the seconds since some moment in the past.
"""

import time
from collections.abc import Callable


def how_long(fn: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    raise NotImplementedError
