"""What other processes do."""

import time


def cpu_seconds(pid: int) -> float | None:
    """CPU time of a process and its threads; None where it cannot be read: the process is gone, say."""
    cpuclock_sched = 2
    try:
        return time.clock_gettime((~pid << 3) | cpuclock_sched)
    except OSError:
        return None
