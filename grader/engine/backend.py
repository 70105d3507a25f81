"""Who judges on this machine: a warm engine, or where there is no fork, fresh processes."""

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager

from grader.course.exercise import Exercise
from grader.protocol.judge import Judge


def is_warm() -> bool:
    """Whether answers can be judged by forking a process that has torch imported."""
    # macOS has fork too, but may leave its system libraries unusable in the child: nobody has seen it work.
    return sys.platform == "linux" and hasattr(os, "fork")


def judge(
    exercises: Sequence[Exercise], jobs: int, *, confined: bool = False
) -> AbstractContextManager[Judge]:
    """A judge of `exercises` that takes `jobs` answers at a time. Fresh ones take one, and confine nothing.

    Raises:
        KataError: it is to be confined, and there is no sandbox.
    """
    if confined or is_warm():
        from grader.engine.pool import Pool

        return Pool(exercises, jobs=jobs, confined=confined)
    from grader.plugin.subprocess_run import Fresh

    return Fresh(exercises, "grader.engine.fresh_oracle")
