import time
from collections.abc import Callable


def how_long(fn: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    fn()
    start = clock()
    fn()
    return clock() - start
