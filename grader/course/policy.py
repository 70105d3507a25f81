"""How much a course makes of the fine print: `course.toml` in the clone, if there is one.

[grading]
fine_print = 0.3   # of the points of an exercise; 0 for a first course
strict = false     # true: nothing counts but what passes the fine print, too
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import KataError
from grader.course import paths

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "course.toml"


@dataclass(frozen=True)
class Policy:
    """What an answer earns.

    Args:
        fine_print: the share of an exercise's points that its fine print is worth, from 0 to 1.
        strict: whether an answer earns nothing that passes only the checks of the job.
    """

    fine_print: float = 0.3
    strict: bool = False

    def score(self, points: float, job: float, fine: float) -> float:
        """The points of an answer that does this share of the job and of the fine print, each from 0 to 1."""
        if self.strict and (job < 1.0 or fine < 1.0):
            return 0.0
        return round(points * job * (1 - self.fine_print + self.fine_print * fine), 4)


USUAL = Policy()
"""What counts where a course says nothing."""


def load(root: Path = paths.ROOT) -> Policy:
    """The course's policy.

    Raises:
        KataError: the file cannot be read, or says something else.
    """
    file = root / FILE
    if not file.exists():
        return USUAL
    try:
        told = tomllib.loads(file.read_text("utf-8")).get("grading", {})
    except (OSError, ValueError) as error:
        raise KataError(f"{paths.shown(file)} cannot be read: {error}; mend it or take it away") from None
    share, strict = told.pop("fine_print", Policy.fine_print), told.pop("strict", Policy.strict)
    if told:
        raise KataError(f"{paths.shown(file)}: [grading] knows fine_print and strict, not {min(told)}")
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise KataError(f"{paths.shown(file)}: fine_print is {share!r}; say a share from 0 to 1")
    if not isinstance(strict, bool):
        raise KataError(f"{paths.shown(file)}: strict is {strict!r}; say true or false")
    return Policy(float(share), strict)
