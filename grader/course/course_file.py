"""What a course says of itself: `course.toml`, found from the current folder upward.

title = "Deep learning, autumn"
sources = ["torchkata"]                # see grader/course/sources.py
variants = "variants.csv"              # see grader/course/variant_table.py

[grading]                              # see grader/course/policy.py

[assignment.week1]
title = "Week 1: tensors"
exercises = ["e01/steps", "merge_heads", "e02"]
extras = ["e03"]                       # which weigh nothing
points = 20                            # for the whole, or { merge_heads = 3 }
due = 2026-11-20T23:59:00+01:00
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.core.errors import KataError
from grader.core.file_names import is_portable
from grader.core.sanitize import one_line
from grader.core.toml import said
from grader.course import paths, policy, sources
from grader.course.policy import Policy, is_number

_KEYS = ("title", sources.KEY, "grading", "assignment", "variants")
_OF_ASSIGNMENT = ("title", "exercises", "extras", "points", "due")
_AS = 'exercises = ["e01/steps", "merge_heads"]'
MOST_POINTS, LEAST_POINTS = 1000, 0.01
"""For an assignment. What is more was meant otherwise; points are shared out in hundredths."""
_MOST_LETTERS = 200
"""Of a title."""


@dataclass(frozen=True)
class Assignment:
    """What is set together, as it is written: exercises by names that the catalog is still to be asked for.

    ``total`` is what the whole is worth, if that is said; ``points`` is what single exercises are worth. The
    ``extras`` weigh nothing, and nobody is told that they are missing.
    """

    name: str
    title: str
    exercises: tuple[str, ...]
    extras: tuple[str, ...] = ()
    total: float | None = None
    points: Mapping[str, float] = field(default_factory=dict)
    due: datetime | None = None


@dataclass(frozen=True)
class CourseFile:
    """A course's title, its policy, and its assignments in their order."""

    file: Path
    title: str = ""
    policy: Policy = policy.USUAL
    assignments: tuple[Assignment, ...] = ()
    variants: Path | None = None

    def said(self, name: str) -> str:
        """How an error about an assignment begins."""
        return f"{paths.shown(self.file)}: [assignment.{name}]"


def load(root: Path = paths.COURSE) -> CourseFile:
    """The course's file; where there is none, one that says nothing.

    Raises:
        KataError: it cannot be read, or says what is not understood.
    """
    file, told = root / paths.FILE, policy.table(root)
    where = paths.shown(file)
    _expect_known(told, _KEYS, where)
    title, tables = told.get("title", ""), told.get("assignment", {})
    if not _is_title(title):
        raise KataError(
            f'{where}: title is {said(title)}; write a short text in quotes, as title = "Tensors"'
        )
    if not isinstance(tables, dict) or not all(isinstance(one, dict) for one in tables.values()):
        raise KataError(f"{where}: assignment needs a name; write a table [assignment.week1]")
    if twins := [name for name in tables if [*map(str.casefold, tables)].count(name.casefold()) > 1]:
        raise KataError(f"{where}: {' and '.join(twins)} are one folder on some machines; rename one")
    assignments = tuple(
        _assignment(name, one, f"{where}: [assignment.{one_line(name)}]") for name, one in tables.items()
    )
    variants = told.get("variants")
    if variants is not None and not isinstance(variants, str):
        raise KataError(f'{where}: variants is {said(variants)}; name a file, as variants = "variants.csv"')
    return CourseFile(file, title, policy.load(root), assignments, root / variants if variants else None)


def near(name: str, known: Iterable[str]) -> str:
    """ " (did you mean 'title'?)"; nothing where nothing is near."""
    import difflib

    found = " or ".join(repr(one) for one in difflib.get_close_matches(name, list(known)))
    return f" (did you mean {found}?)" if found else ""


def _expect_known(told: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in told:
        if key not in keys:
            raise KataError(
                f"{where}: nothing is called {said(key)}{near(key, keys)}; known are {', '.join(keys)}"
            )


def _assignment(name: str, told: Mapping[str, Any], where: str) -> Assignment:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name) or not is_portable(name):
        raise KataError(f"{where}: gradebooks know no such name; use a few letters, digits, - and _")
    _expect_known(told, _OF_ASSIGNMENT, where)
    title = told.get("title", name)
    if not _is_title(title):
        raise KataError(f"{where}: title is {said(title)}; write a short text in quotes")
    exercises, extras = (_names(told.get(key, []), key, where) for key in ("exercises", "extras"))
    if not exercises:
        raise KataError(f"{where}: list its exercises and sections, as {_AS}")
    total, points = _points(told.get("points"), where)
    return Assignment(name, title, exercises, extras, total, points, _due(told.get("due"), where))


def _is_title(told: object) -> bool:
    """Whether it is a text that a terminal shows in one line as it stands."""
    return isinstance(told, str) and told.isprintable() and len(told) <= _MOST_LETTERS


def _names(told: object, key: str, where: str) -> tuple[str, ...]:
    if not isinstance(told, list) or not all(isinstance(one, str) for one in told):
        raise KataError(f"{where}: {key} is to list its exercises and sections, as {_AS}")
    return tuple(told)


def _points(told: object, where: str) -> tuple[float | None, dict[str, float]]:
    """Those of the whole, and those of single exercises: one or the other is said."""
    if told is None:
        return None, {}
    single = told if isinstance(told, dict) else {}
    for what, value in single.items():
        if not is_number(value) or not 0 <= value <= policy.MOST_POINTS:
            raise KataError(f"{where}: {said(what)} has points {said(value)}; say 0 to {policy.MOST_POINTS}")
    if isinstance(told, dict):
        return None, single
    if not is_number(told) or not LEAST_POINTS <= told <= MOST_POINTS:
        raise KataError(
            f"{where}: points is {said(told)}; say what the whole is worth, up to {MOST_POINTS}, or "
            "points = { merge_heads = 3 }"
        )
    return float(told), {}


def _due(told: object, where: str) -> datetime | None:
    """When it is due, from TOML's own date and time or from a text."""
    if told is None:
        return None
    try:
        due = datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", told)) if isinstance(told, str) else told
    except ValueError:
        due = None
    if not isinstance(due, datetime) or due.tzinfo is None or not 1970 < due.year < 2500:
        raise KataError(
            f"{where}: due is {said(str(told))}; say date, time and zone, as due = 2026-11-20T23:59:00+01:00"
        )
    return due
