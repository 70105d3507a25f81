"""How much a course makes of the fine print, and of first steps: `course.toml`, if there is one.

[grading]
fine_print = 0.3   # of the points of an exercise; 0 for a first course
strict = false     # true: nothing counts but what passes the fine print, too
steps = 0          # points for each of the first steps
rules = "gate"     # "share": a broken rule of the job costs its own check, and no more
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

from grader.core import toml
from grader.core.errors import KataError
from grader.core.toml import said
from grader.course import paths

MOST_POINTS = 100
"""For a step. What is more was meant otherwise."""

NOT_WORKING = 0.65
"""The most that an answer earns of its points that does not do the whole job, however much of it it does."""

Rules = Literal["gate", "share"]


@dataclass(frozen=True)
class Policy:
    """What an answer earns.

    Args:
        fine_print: the share of an exercise's points that its fine print is worth, from 0 to 1.
        strict: whether an answer earns nothing that passes only the checks of the job.
        steps: the points of each first step.
        rules: what a broken rule of the job costs: all that the functions concerned do, or a share like that
            of any other check.
    """

    fine_print: float = 0.3
    strict: bool = False
    steps: float = 0.0
    rules: Rules = "gate"

    def score(self, points: float, job: float, fine: float) -> float:
        """The points of an answer that does this share of the job and of the fine print, each from 0 to 1.

        The fine print counts once the job is done: what does not work never earns more than what does.
        """
        if self.strict and (job < 1.0 or fine < 1.0):
            return 0.0
        plain = 1 - self.fine_print
        worth = job * min(NOT_WORKING, plain) if job < 1.0 else plain + self.fine_print * fine
        return round(points * worth, 4)


USUAL = Policy()
"""What counts where a course says nothing."""


def table(root: Path) -> dict[str, Any]:
    """All that the course's file says; nothing where there is none.

    Raises:
        KataError: it cannot be read.
    """
    file = root / paths.FILE
    return toml.read(file, paths.shown(file)) if file.exists() else {}


def load(root: Path = paths.COURSE) -> Policy:
    """The course's policy.

    Raises:
        KataError: the file cannot be read, or says something else.
    """
    file, told = root / paths.FILE, table(root).get("grading", {})
    if not isinstance(told, dict):
        raise KataError(f"{paths.shown(file)}: grading is {said(told)}; write a table [grading]")
    if unknown := told.keys() - vars(USUAL).keys():
        raise KataError(
            f"{paths.shown(file)}: [grading] knows {', '.join(vars(USUAL))}, and not {min(unknown)}"
        )
    given = Policy(**told)
    if not is_number(given.fine_print) or not 0 <= given.fine_print <= 1:
        raise KataError(
            f"{paths.shown(file)}: fine_print is {said(given.fine_print)}; say a share from 0 to 1"
        )
    if not isinstance(given.strict, bool):
        raise KataError(f"{paths.shown(file)}: strict is {said(given.strict)}; say true or false")
    if given.rules not in get_args(Rules):
        raise KataError(f'{paths.shown(file)}: rules is {said(given.rules)}; say "gate" or "share"')
    if not is_number(given.steps) or not 0 <= given.steps <= MOST_POINTS:
        raise KataError(
            f"{paths.shown(file)}: steps is {said(given.steps)}; say points from 0 to {MOST_POINTS}"
        )
    return given


def is_number(value: object) -> TypeGuard[float]:
    """Whether TOML says a number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
