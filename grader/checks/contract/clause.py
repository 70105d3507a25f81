"""One thing that a contract demands, which becomes one check."""

from collections.abc import Callable
from dataclasses import dataclass

from grader.checks.contract.trial import Trial


@dataclass(frozen=True)
class Clause:
    """One thing that a contract demands: the check's name, a learner's title, and how it is tried."""

    name: str
    title: str
    run: Callable[[Trial], None]
    on_device: bool = False
