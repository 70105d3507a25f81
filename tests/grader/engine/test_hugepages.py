"""Large pages change nothing but the cost of a fork."""

from pathlib import Path

import pytest

from grader.engine.hugepages import SIZE, _private, collapse


def test_what_lies_in_memory_stays():
    held = bytearray(range(256)) * (4 * SIZE // 256)
    collapse()
    assert held == bytes(range(256)) * (4 * SIZE // 256)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="there is no /proc")
def test_ranges_are_whole_pages_of_this_process():
    held = bytearray(4 * SIZE)
    ranges = list(_private())
    assert ranges and all(start % SIZE == end % SIZE == 0 and start < end for start, end in ranges)
    assert len(held) == 4 * SIZE
