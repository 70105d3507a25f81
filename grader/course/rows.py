"""The catalog as it is written: a table for each exercise, and the files that hold them.

Each section's folder of exercises holds it as `section.toml`, and its folder of steps as `steps.toml`. That
is the only home of metadata, because learners break or forge what they edit; of what they hand in, it is
never read.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grader.core.errors import KataError
from grader.core.toml import tomllib
from grader.course import paths
from grader.course.catalog import Catalog, Section
from grader.course.exercise import KINDS, STEPS, Exercise

SECTION = "section.toml"
STEPS_FILE = "steps.toml"
_STEP = {"path": "first", "kind": "build", "points": 0, "difficulty": 1, "reading": ""}
"""What a step's row need not say. What steps weigh in a grade, the course's policy says."""


def _exercise(section: str, slug: str, row: dict[str, Any], source: Path, root: Path) -> Exercise:
    if source.parent.name == STEPS:
        row = {**_STEP, **row}
    if row.get("kind", KINDS[0]) not in KINDS:
        said = f"{paths.shown(source)}: exercise {slug!r} has kind = {row['kind']!r}"
        raise KataError(f"{said}; say one of {', '.join(KINDS)}")
    try:
        return Exercise(
            slug=slug,
            section=section,
            order=row["order"],
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
            start=row.get("start", ""),
            root=root,
        )
    except KeyError as missing:
        raise KataError(f"{paths.shown(source)}: exercise {slug!r} lacks {missing}; add it") from None


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

    So a course keeps its own exercise when a source brings one of the same name.
    """
    titles: dict[str, str] = {}
    held: dict[str, list[Exercise]] = {}
    known: set[str] = set()
    for catalog in catalogs:
        for section in catalog.sections:
            titles.setdefault(section.name, section.title)
            held.setdefault(section.name, []).extend(e for e in section.exercises if e.slug not in known)
        known |= {e.slug for e in catalog.exercises}
    return Catalog(
        tuple(
            Section(name, titles[name], tuple(sorted(held[name], key=lambda e: (not e.is_step, e.order))))
            for name in sorted(held)
        )
    )


def _table(source: Path) -> dict[str, Any]:
    try:
        table: dict[str, Any] = tomllib.loads(source.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as broken:
        raise KataError(f"{paths.shown(source)} is not valid TOML: {broken}") from None
    return table


def _rows(section: str, source: Path, table: dict[str, Any], root: Path) -> list[Exercise]:
    """What a file of the catalog holds, in its order; a section that is to come has nothing yet."""
    rows = table.get("exercise", {}).items()
    return sorted((_exercise(section, slug, row, source, root) for slug, row in rows), key=lambda e: e.order)


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
