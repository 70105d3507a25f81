"""What an instructor says of a suite: `suite.toml` in its folder, if there is one.

title = "Assignment 1"                    # on pages; else the name of its folder
seconds = 10                              # for each test

[points]                                  # without them, 1 for each test
"test_model.py" = 20                      # for all tests of a file together
"test_model.py::test_attention" = 5       # for one, or for all of its parameters together
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.core import toml
from grader.core.errors import KataError
from grader.course import paths
from grader.course.course_file import near
from grader.course.policy import is_number

FILE = "suite.toml"
MOST_POINTS = 1000
"""For a test. What is more was meant otherwise."""
MOST_SECONDS = 600


@dataclass(frozen=True)
class AssignmentSettings:
    """What the assignment is called, how long a test may take, and what tests are worth, as `file` says."""

    file: Path
    seconds: float = 10.0
    points: Mapping[str, float] = field(default_factory=dict)
    title: str = ""


def read(file: Path) -> AssignmentSettings:
    """What the file says; nothing where there is none.

    Raises:
        KataError: it cannot be read, or says what is not understood.
    """
    if not file.exists():
        return AssignmentSettings(file)
    where = paths.shown(file)
    told = toml.read(file, where)
    known = ("title", "seconds", "points")
    for key in told:
        if key not in known:
            raise KataError(
                f"{where}: nothing is called {key!r}{near(key, known)}; known are {', '.join(known)}"
            )
    seconds, points = told.get("seconds", 10.0), told.get("points", {})
    title = told.get("title", "")
    if not isinstance(title, str):
        raise KataError(f'{where}: title is {title!r}; write a text, as title = "Assignment 1"')
    if not is_number(seconds) or not 0 < seconds <= MOST_SECONDS:
        raise KataError(f"{where}: seconds is {seconds!r}; say up to {MOST_SECONDS} for a test")
    if not isinstance(points, dict):
        raise KataError(f'{where}: points is {points!r}; write a table [points], as "test_model.py" = 20')
    for name, value in points.items():
        if isinstance(value, dict):
            raise KataError(f'{where}: put quotes around the whole name of a test, as "{name}.py" = 20')
        if not is_number(value) or not 0 <= value <= MOST_POINTS:
            raise KataError(f"{where}: {name} has points {value!r}; say 0 to {MOST_POINTS}")
    return AssignmentSettings(file, float(seconds), points, title)
