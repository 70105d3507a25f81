"""Links that a terminal opens by itself (OSC 8): to the file, its solution and the page to read."""

import os
from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.style import Style
from rich.text import Text

from grader.course import paths
from grader.course.exercise import Exercise


def of(exercise: Exercise, *, is_open: bool) -> RenderableType:
    """All that there is to open; the solution where it `is_open`."""
    return Group(*_links(exercise, is_open))


def _links(exercise: Exercise, is_open: bool) -> Iterator[Text]:
    file, solution = exercise.file("exercises"), exercise.file("solutions")
    yield _link("file", paths.shown(file), _address(file))
    if is_open and solution.exists():
        yield _link("solution", paths.shown(solution), _address(solution))
    if exercise.reading:
        yield _link("page", exercise.reading, exercise.reading)


def _link(name: str, words: str, address: str) -> Text:
    return Text.assemble((f"{name:<10}", "dim"), (words, Style(link=address, underline=True)))


def _address(file: Path) -> str:
    """The editor's own where the terminal is an editor's, else the file's."""
    address = file.resolve().as_uri()
    is_code = os.environ.get("TERM_PROGRAM") == "vscode"
    return f"vscode://file{address.removeprefix('file://')}" if is_code else address
