"""What comes with the package, in the parts that other folders get of it."""

import re
from collections.abc import Iterable
from pathlib import Path

from grader.core.packed import unpacked, written
from grader.course import paths, starts
from grader.course.exercise import Exercise


def pytest_settings() -> str:
    """A `pyproject.toml` for a course apart from the package: what pytest reads of the package's."""
    tables = re.split(r"^(?=\[)", (paths.SOURCE / "pyproject.toml").read_text("utf-8"), flags=re.MULTILINE)
    settings = [table for table in tables if table.startswith("[tool.pytest.")]
    return "".join(settings).rstrip() + "\n"


def lay_given(exercises: Iterable[Exercise], folder: Path) -> None:
    """Write the course's own starts of capstones into a copy, where other variants have been laid out here.

    Raises:
        KataError: such a start is nowhere.
    """
    for exercise in exercises:
        if exercise.is_capstone and not starts.is_untouched(exercise):
            place = exercise.place("exercises").relative_to(exercise.root)
            written(unpacked(starts.content(exercise)), folder / place)


def without_chapters(readme: str, *titles: str) -> str:
    """The README without the chapters that are not for its readers."""
    parts = re.split(r"^(?=## )", readme, flags=re.MULTILINE)
    return "".join(part for part in parts if part.partition("\n")[0].removeprefix("## ") not in titles)
