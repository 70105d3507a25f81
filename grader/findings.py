"""What is asked about one answer, and what comes back: plain records, whoever judges."""

from dataclasses import dataclass
from typing import Any

from grader.catalog import Exercise


@dataclass(frozen=True)
class Expected:
    """A check that an answer is to pass, and what this machine lacks to run it."""

    id: str
    title: str
    lacks: str | None


@dataclass(frozen=True)
class Request:
    """One answer to judge; for `mode` and `only` see `grader.child.Job`."""

    exercise: Exercise
    answer: bytes
    seed: int
    mode: str = "judge"
    shuffled: bool = False
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """What came back for one answer: the child's lines, and how it ended by the worker's word.

    `lost` is set where the grader itself failed to get an answer judged.
    """

    lines: tuple[dict[str, Any], ...] = ()
    exit: int = 0
    signal: int = 0
    timed_out: bool = False
    overflow: bool = False
    lost: str = ""

    @property
    def cut_short(self) -> bool:
        """Whether the child ended before its time and without a word why."""
        told = any(word in line for line in self.lines for word in _LAST_WORDS)
        return not (told or self.timed_out or self.overflow or self.lost)


_LAST_WORDS = ("done", "broken", "stopped", "tampered")
