"""Whose variant is whose: `variants.csv`, which `kata release --variants` writes and `kata grade` reads.

student,slug,seed
ada,broken_gpt,1
"""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.core.errors import KataError
from grader.core.toml import said
from grader.course import paths, starts, variant
from grader.course.catalog import Catalog, Section
from grader.course.exercise import Exercise

FILE = "variants.csv"
_COLUMNS = ("student", "slug", "seed")


@dataclass(frozen=True)
class VariantTable:
    """The numbers of variants, by student and slug. Who is not in it has what lies in the course."""

    seeds: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def of(self, student: str, exercise: Exercise) -> Exercise:
        """The exercise as this student got it; raises KataError where a variant cannot be made."""
        seed = self.seeds.get((student, exercise.slug))
        return exercise if seed is None or not exercise.is_capstone else starts.as_variant(exercise, seed)

    def knowing(self, catalog: Catalog) -> Catalog:
        """The catalog, whose capstones know each start that was handed out: it is nobody's work."""
        sections, course = (tuple(map(self._knowing, held)) for held in (catalog.sections, catalog.course))
        return replace(catalog, sections=sections, course=course)

    def _knowing(self, section: Section) -> Section:
        return replace(section, exercises=tuple(map(self._with_starts, section.exercises)))

    def _with_starts(self, exercise: Exercise) -> Exercise:
        seeds = self._seeds(exercise)
        if not seeds or not exercise.is_capstone:
            return exercise
        given = frozenset(starts.as_variant(exercise, seed).start for seed in seeds)
        return replace(exercise, pool=replace(exercise.pool, handed_out=given))

    def having(self, exercise: Exercise, names: Iterable[str]) -> list[int]:
        """The numbers of those variants in the table that have all of these bugs."""
        return [seed for seed in self._seeds(exercise) if {*names} <= {*variant.chosen(exercise, seed)}]

    def _seeds(self, exercise: Exercise) -> list[int]:
        """The numbers of its variants in the table."""
        return sorted({seed for (_, slug), seed in self.seeds.items() if slug == exercise.slug})

    def text(self) -> str:
        """As a table."""
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerows([_COLUMNS, *((student, slug, seed) for (student, slug), seed in self.seeds.items())])
        return rows.getvalue()


NOBODYS = VariantTable()


def drawn(students: Iterable[str], exercises: Iterable[Exercise]) -> VariantTable:
    """Other bugs of each capstone for each student: numbers from 1 on, which nobody else has, nor 0."""
    everybody = list(students)
    seeds = {}
    for exercise in filter(lambda e: e.is_capstone, exercises):
        taken = {frozenset(variant.chosen(exercise, 0))}
        seed = 0
        for student in everybody:
            seed = _next(exercise, seed + 1, taken)
            taken.add(frozenset(variant.chosen(exercise, seed)))
            seeds[student, exercise.slug] = seed
    return VariantTable(seeds)


_MOST_TRIED = 10_000


def _next(exercise: Exercise, seed: int, taken: set[frozenset[str]]) -> int:
    """The first number from `seed` on with other bugs; in a large class two may have the same."""
    tried = range(seed, seed + _MOST_TRIED)
    return next((n for n in tried if frozenset(variant.chosen(exercise, n)) not in taken), seed)


def read(file: Path, catalog: Catalog) -> VariantTable:
    """The table in a file.

    Raises:
        KataError: it cannot be read, or a row of it cannot be meant.
    """
    where = paths.shown(file)
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise KataError(f"cannot read {where}; `kata release --variants` writes such a table") from None
    reader = csv.DictReader(io.StringIO(text))
    if not {*_COLUMNS} <= {*(reader.fieldnames or ())}:
        raise KataError(f"{where}: its first line is to be {','.join(_COLUMNS)}")
    capstones = {e.slug for e in catalog.exercises if e.is_capstone}
    seeds: dict[tuple[str, str], int] = {}
    for row in reader:
        student, slug, seed = ((row[name] or "").strip() for name in _COLUMNS)
        if not student or slug not in capstones or not (seed.isascii() and seed.isdigit()):
            told = said(",".join((student, slug, seed)))
            raise KataError(f"{where}, line {reader.line_num}: {told}; say a student, a capstone, a number")
        seeds[student, slug] = int(seed)
    return VariantTable(seeds)
