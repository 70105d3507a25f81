"""What a warm engine judges by: all that its workers need to know of exercises, or of somebody's suite."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from grader.engine.telling import Telling
from grader.sandbox import Limits

GRACE = 2.0
"""Seconds beyond a child's time: its own alarm comes first, which can name the line where an answer hangs."""


class ChildTask(Protocol):
    """What a child does with an answer."""

    def prepare(self, answer: int) -> None:
        """Do all that can be done before the answer, which is read from this descriptor, is imported."""

    def run(self) -> None:
        """Judge the answer."""


@dataclass(frozen=True)
class ChildSpec:
    """One answer, as its worker sees it: what a child does about it, for how long, and what it may use.

    `task` is made in the child, from what tells of findings and what says that it goes on. It is ended after
    `seconds`, and where it does not keep the `pace`: how soon it first says so, and again. Without a pace
    nobody listens: an answer would find the pipe. `apart` changes all children to come: it is done in a
    process of its own, which takes all like this one. `warm_up` does once in a worker what its children
    would each do again.
    """

    task: Callable[[Telling, Callable[[], None]], ChildTask]
    seconds: float
    limits: Limits
    pace: tuple[float, float] | None = None
    apart: Callable[[], None] | None = None
    warm_up: Callable[[], None] | None = None


class Court(Protocol):
    """What the children of one warm process judge by; they must not read the folders `hidden`."""

    confined: bool
    hidden: tuple[Path, ...]

    def spec(self, told: dict[str, Any]) -> ChildSpec:
        """What the job wants that this tells of.

        Raises:
            KataError: there is no such thing here.
        """


class CourtOfChecks(Court, Protocol):
    """A court whose children run checks, which it knows."""

    def inventory(self) -> dict[str, Any]:
        """The `checks` that there are, by exercise or file, and what else the other side is to know."""
