"""The alarm that ends a check which takes too long."""

import signal


def at_most_the_alarm(seconds: float) -> float:
    """Be done before the alarm of the check, which cannot tell what other processes were doing."""
    left = signal.getitimer(signal.ITIMER_REAL)[0] if hasattr(signal, "getitimer") else 0.0
    return min(seconds, max(left - 1.0, left / 2)) if left else seconds
