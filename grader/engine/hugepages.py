"""Memory in large pages, so that forking is cheap.

A fork copies the parent's page tables, and the end of a child takes them down again. For a warm parent with
torch in a quarter of a gigabyte of small pages, that takes longer than most checks. In pages of 2 MB it is
next to nothing, and a child that writes still copies 4 kB at a time.
"""

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

SIZE = 2 << 20
_MADV_COLLAPSE = 25  # Linux 6.1; elsewhere the call fails, and everything stays as it was


def collapse() -> None:
    """Gather this process's own memory in large pages, where the system allows it."""
    if sys.platform != "linux":
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for start, end in _private():
        for address in range(start, end, SIZE):
            advise(address, SIZE, _MADV_COLLAPSE)


def _private() -> Iterator[tuple[int, int]]:
    """The whole large pages within each range that no file stands behind."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, rights, _, _, _, *name = line.split(maxsplit=5)
        if rights == "rw-p" and (not name or name == ["[heap]"]):
            low, high = (int(bound, 16) for bound in span.split("-"))
            start, end = -(-low // SIZE) * SIZE, high // SIZE * SIZE
            if start < end:
                yield start, end
