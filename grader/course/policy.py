"""How much a course makes of the fine print, and of first steps: `course.toml`, if there is one.

[grading]
fine_print = 0.3   # of the points of an exercise; 0 for a first course
strict = false     # true: nothing counts but what passes the fine print, too
steps = 0          # points for each of the first steps
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.core.errors import KataError
from grader.core.toml import tomllib
from grader.course import paths

MOST_POINTS = 100
"""For a step. What is more was meant otherwise."""


@dataclass(frozen=True)
class Policy:
    """What an answer earns.

    Args:
        fine_print: the share of an exercise's points that its fine print is worth, from 0 to 1.
        strict: whether an answer earns nothing that passes only the checks of the job.
        steps: the points of each first step.
    """

    fine_print: float = 0.3
    strict: bool = False
    steps: float = 0.0

    def score(self, points: float, job: float, fine: float) -> float:
        """The points of an answer that does this share of the job and of the fine print, each from 0 to 1."""
        if self.strict and (job < 1.0 or fine < 1.0):
            return 0.0
        return round(points * job * (1 - self.fine_print + self.fine_print * fine), 4)


USUAL = Policy()
"""What counts where a course says nothing."""


def table(root: Path) -> dict[str, Any]:
    """All that the course's file says; nothing where there is none.

    Raises:
        KataError: it cannot be read.
    """
    file = root / paths.FILE
    if not file.exists():
        return {}
    try:
        found: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise KataError(f"{paths.shown(file)} cannot be read: {error}; mend it or take it away") from None
    return found


def load(root: Path = paths.COURSE) -> Policy:
    """The course's policy.

    Raises:
        KataError: the file cannot be read, or says something else.
    """
    file, told = root / paths.FILE, table(root).get("grading", {})
    if not isinstance(told, dict):
        raise KataError(f"{paths.shown(file)}: grading is {told!r}; write a table [grading]")
    if unknown := told.keys() - vars(USUAL).keys():
        raise KataError(
            f"{paths.shown(file)}: [grading] knows {', '.join(vars(USUAL))}, and not {min(unknown)}"
        )
    given = Policy(**told)
    if not is_number(given.fine_print) or not 0 <= given.fine_print <= 1:
        raise KataError(f"{paths.shown(file)}: fine_print is {given.fine_print!r}; say a share from 0 to 1")
    if not isinstance(given.strict, bool):
        raise KataError(f"{paths.shown(file)}: strict is {given.strict!r}; say true or false")
    if not is_number(given.steps) or not 0 <= given.steps <= MOST_POINTS:
        raise KataError(f"{paths.shown(file)}: steps is {given.steps!r}; say points from 0 to {MOST_POINTS}")
    return given


def is_number(value: object) -> bool:
    """Whether TOML says a number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
