"""One thing that a contract demands, which becomes one check."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from grader.checks.contract.trial import Trial


@dataclass(frozen=True)
class Clause:
    """One thing that a contract demands: the check's name, a learner's title, and how it is tried.

    It `refuses` a solution that is broken in one of these ways: audits try it (`grader.authoring.breakages`).
    """

    name: str
    title: str
    run: Callable[[Trial], None]
    on_device: bool = False
    refuses: tuple[str, ...] = ()


def listed(names: Iterable[str]) -> str:
    """Names as one writes them: "x, y and z"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
