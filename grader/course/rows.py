"""The catalog as it is written: a table for each exercise, and the files that hold them.

Each section's folder of exercises holds it as `section.toml`, and its folder of steps as `steps.toml`. That
is the only home of metadata, because learners break or forge what they edit; of what they hand in, it is
never read.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from grader.core import toml
from grader.core.errors import KataError
from grader.core.toml import said
from grader.course import bug_pool, paths
from grader.course.catalog import Catalog, Section
from grader.course.exercise import KINDS, PATHS, STEPS, Exercise
from grader.course.policy import MOST_POINTS, is_number

SECTION = "section.toml"
STEPS_FILE = "steps.toml"
_STEP = {"path": "first", "kind": "build", "points": 0, "difficulty": 1, "reading": ""}
"""What a step's row need not say. What steps weigh in a grade, the course's policy says."""


def _exercise(section: str, slug: str, order: int, row: dict[str, Any], source: Path, root: Path) -> Exercise:
    if source.parent.name == STEPS:
        row = {**_STEP, **row}
    _expect_sound(slug, row, f"{paths.shown(source)}: exercise {said(slug)}")
    try:
        return Exercise(
            slug=slug,
            section=section,
            order=order,
            title=row["title"],
            kind=row["kind"],
            path=row["path"],
            points=row["points"],
            difficulty=row["difficulty"],
            needs=tuple(row.get("needs", ())),
            concepts=tuple(row["concepts"]),
            hints=tuple(row.get("hints", ())),
            reading=row["reading"],
            seconds=row.get("seconds", 10.0),
            minutes=row.get("minutes", 0),
            optional=row.get("optional", False),
            why=row.get("why", ""),
            start=row.get("start", ""),
            root=root,
            pool=bug_pool.read(row.get("bugs", {}), row.get("start", "")),
        )
    except KeyError as missing:
        raise KataError(f"{paths.shown(source)}: exercise {slug!r} lacks {missing}; add it") from None


def _expect_sound(slug: str, row: Any, where: str) -> None:
    """Raises KataError where a row says what no exercise can have. What it lacks is told elsewhere."""
    if not re.fullmatch(r"(?!(ex|s)\d+_)[a-z][a-z0-9_]{0,79}", slug) or not isinstance(row, dict):
        raise KataError(f"{where}: write a table [exercise.merge_heads], in small letters, digits and _")
    for key, (is_sound, what) in _SOUND.items():
        if key in row and not is_sound(row[key]):
            raise KataError(f"{where} has {key} = {said(row[key])}; say {what}")


def _is_number(least: float, most: float) -> Callable[[object], bool]:
    return lambda told: is_number(told) and least <= told <= most


def _is_text(told: object) -> bool:
    return isinstance(told, str)


def _is_list(told: object) -> bool:
    return isinstance(told, list) and all(isinstance(one, str) for one in told)


_SOUND: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "kind": (lambda told: told in KINDS, f"one of {', '.join(KINDS)}"),
    "path": (lambda told: told in PATHS, f"one of {', '.join(PATHS)}"),
    "order": (
        lambda told: False,  # as rows had before, and files had numbers in their names
        "nothing: tables stand in the order of the section, and files are called by the slug alone",
    ),
    "points": (_is_number(0, MOST_POINTS), f"0 to {MOST_POINTS}"),
    "difficulty": (_is_number(1, 3), "1, 2 or 3"),
    "seconds": (_is_number(0.1, 3600), "how long judging may take, as seconds = 20"),
    "minutes": (_is_number(0, 100_000), "how long it takes, as minutes = 15"),
    "bugs": (bug_pool.is_sound, bug_pool.FORM),
    "optional": (lambda told: isinstance(told, bool), "true or false"),
    **dict.fromkeys(("title", "reading", "why", "start"), (_is_text, "a text in quotes")),
    **dict.fromkeys(("needs", "concepts", "hints"), (_is_list, "a list of texts in quotes")),
}


def read(folder: Path) -> Catalog:
    """Read every section's file in `folder`, in the order of the sections' names."""
    sections = []
    for source in sorted(folder.glob(f"e*/{SECTION}")):
        name, table = source.parent.name, _table(source)
        if "title" not in table:
            raise KataError(f"{paths.shown(source)} lacks the section's title; add it")
        steps = source.parent / STEPS / STEPS_FILE
        first = _rows(name, steps, _table(steps) if steps.is_file() else {}, folder.parent)
        sections.append(Section(name, table["title"], (*first, *_rows(name, source, table, folder.parent))))
    return Catalog(tuple(sections))


def joined(catalogs: Iterable[Catalog]) -> Catalog:
    """Several as one. A section may have exercises from each; of one slug, the first catalog's is meant.

    So a course keeps its own exercise when a source brings one of the same name. What it adds to a section
    comes after what its sources have there.
    """
    titles: dict[str, str] = {}
    held: dict[str, list[list[Exercise]]] = {}
    known: set[str] = set()
    for catalog in catalogs:
        for section in catalog.sections:
            titles.setdefault(section.name, section.title)
            new = [e for e in section.exercises if e.slug not in known]
            held.setdefault(section.name, []).insert(0, new)
        known |= {e.slug for e in catalog.exercises}
    return Catalog(tuple(Section(name, titles[name], tuple(_numbered(held[name]))) for name in sorted(held)))


def _numbered(parts: Iterable[Iterable[Exercise]]) -> Iterator[Exercise]:
    """All steps, then all exercises, each with its number."""
    everything = list(chain.from_iterable(parts))
    for step in (True, False):
        those = (e for e in everything if e.is_step == step)
        yield from (replace(e, order=number) for number, e in enumerate(those, start=1))


def _table(source: Path) -> dict[str, Any]:
    table = toml.read(source, paths.shown(source))
    if not isinstance(table.get("title", ""), str) or not isinstance(table.get("exercise", {}), dict):
        raise KataError(f'{paths.shown(source)}: write title = "…" and tables [exercise.merge_heads]')
    return table


def _rows(section: str, source: Path, table: dict[str, Any], root: Path) -> list[Exercise]:
    """What a file of the catalog holds, in its order; a section that is to come has nothing yet."""
    rows = enumerate(table.get("exercise", {}).items(), start=1)
    return [_exercise(section, slug, order, row, source, root) for order, (slug, row) in rows]


def section_file(section: str, root: Path = paths.ROOT) -> Path:
    """Where the catalog's rows of a section's exercises stand."""
    return root / "exercises" / section / SECTION


def row_file(exercise: Exercise) -> Path:
    """Where the catalog's row of an exercise stands."""
    if exercise.is_step:
        return exercise.root / "exercises" / exercise.folder / STEPS_FILE
    return section_file(exercise.section, exercise.root)


def rows_of(text: str) -> list[str]:
    """What stands before the exercises in a section's file, and the table of each, as they are written."""
    return re.split(r"^(?=\[exercise\.)", text, flags=re.MULTILINE)
