"""An exercise whose file is not there, and the file that holds its answer under another name."""

import re
from collections.abc import Iterator
from pathlib import Path

from grader.course import paths
from grader.course.catalog import load
from grader.course.exercise import Exercise

_ASKED = re.compile(r'\banswer\.(\w+)|\bContract\(\s*"(\w+)\(')
"""What a public suite calls."""
_DEFINED = re.compile(r"^(?:async )?(?:def|class) (\w+)", re.MULTILINE)


def renamed(exercise: Exercise) -> str:
    """That the file is not there, and which one holds its answer, in a line; "" where neither can be said."""
    found = None if exercise.file("exercises").exists() else _elsewhere(exercise)
    if found is None:
        return ""
    name, (file, names) = paths.shown(exercise.place("exercises")), found
    return f"{name} is not there, but {paths.shown(file)} holds {', '.join(names)}: give it that name"


def _elsewhere(exercise: Exercise) -> tuple[Path, list[str]] | None:
    """The file that defines most of what the exercise asks for, and what it defines of that."""
    suite = exercise.file("public")
    text = suite.read_text("utf-8", "replace") if suite.exists() else ""
    asked = {name for names in _ASKED.findall(text) for name in names if name}
    held = [(file, [name for name in _defined(file) if name in asked]) for file in _strays(exercise)]
    best = max(held, key=lambda each: len(each[1]), default=None)
    return best if best and best[1] else None


def _defined(file: Path) -> list[str]:
    return list(dict.fromkeys(_DEFINED.findall(file.read_text("utf-8", "replace"))))


def _strays(exercise: Exercise) -> Iterator[Path]:
    """Files that are nobody's answer, those of the same section first."""
    places = {e.place("exercises") for e in load().exercises}
    folder = exercise.place("exercises").parent
    for where in (folder, exercise.root / "exercises"):
        for file in sorted(where.rglob("*.py")):
            if file.name != "__init__.py" and places.isdisjoint((file, *file.parents)):
                yield file
