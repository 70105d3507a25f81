"""Scores as a CSV that Canvas's gradebook imports.

The columns are those of Canvas's own export, which its importer expects (`lib/gradebook_exporter.rb` and
`lib/gradebook_importer.rb` of instructure/canvas-lms; "How do I import grades in the Gradebook?" in Canvas's
guides): Student, ID, SIS User ID, SIS Login ID, Section, then a column `Assignment (id)` for each
assignment, and as second row the points possible. Canvas knows a student by ID, else by SIS ids, else by
name, and an assignment by its id, else by its exact title. What it calculates itself is read only.

Only Canvas knows those ids: an export of its gradebook, saved as `canvas.csv` among the results, gives them.
"""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from grader.core import spreadsheet
from grader.core.errors import KataError
from grader.course import paths
from grader.course import roster as course
from grader.course.catalog import Catalog
from grader.export.tables import number, penalty, points, score, text
from grader.records.records import StudentRecord

ROSTER = "canvas.csv"
STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS = "    Points Possible"
TOTAL = "Final Points"
LATE = " late penalty"
READ_ONLY = "(read only)"


@dataclass(frozen=True)
class Roster:
    """What an export of Canvas's gradebook says: its students' columns, and the headers of assignments."""

    students: Sequence[Mapping[str, str]] = ()
    assignments: Mapping[str, str] = field(default_factory=dict)

    def find(self, student: str) -> Mapping[str, str] | None:
        """The row of a student: by the id that Canvas puts into file names, by SIS ids, by name."""
        canvas = re.fullmatch(r".+_(\d+)", student)
        keys = [("ID", canvas[1])] if canvas else []
        keys += [(column, student) for column in ("SIS Login ID", "SIS User ID", "Student", "ID")]
        for column, value in keys:
            for row in self.students:
                if row.get(column) == value or (
                    column == "Student" and _turned(row.get(column, "")) == value
                ):
                    return row
        return None


def to_canvas(
    records: Iterable[StudentRecord],
    catalog: Catalog,
    out: TextIO,
    roster: Roster | None = None,
    tell: Callable[[str], None] = lambda line: None,
    enrolled: course.Roster = course.NOBODY,
) -> None:
    """A row for each student; what was not judged is an empty cell.

    With a roster, the columns are those exercises and sections that are assignments in Canvas; without
    one, or where it has none of them, each exercise by its slug, without steps that weigh nothing. Late
    penalties are taken off a section's total; where that is no column, they are one: points below zero.
    Students are found in Canvas by all that the course's own roster, `enrolled`, calls them.
    """
    students = list(records)
    columns = _columns(students, catalog, roster or Roster())
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*STUDENT, *columns, TOTAL])
    possible = [number(points(catalog, column.slugs)) for column in columns.values()]
    writer.writerow([POINTS, *[""] * (len(STUDENT) - 1), *possible, READ_ONLY])
    unknown = []
    for student in students:
        told = enrolled.find(student.student) or course.Student(student.student)
        row = next(filter(None, map(roster.find, told.names)), None) if roster else None
        if roster and row is None:
            unknown.append(student.student)
        judged = [slug for column in columns.values() for slug in column.slugs]
        late = {column.late for column in columns.values()}
        writer.writerow(
            [
                *(text(cell) for cell in (_known(row) if row else _guessed(told))),
                *(column.cell(student) for column in columns.values()),
                score(student, list(dict.fromkeys(judged)), late=late),
            ]
        )
    if unknown:
        tell(f"{ROSTER} has no row for {', '.join(unknown)}; Canvas will ask who that is")
    taken = {column.late for column in columns.values()}
    penalized = dict.fromkeys(name for student in students for name in student.penalties)
    for name in [name for name in penalized if name not in taken]:
        tell(
            f"{ROSTER} has no column for the late penalties of {name}: make an assignment "
            f"“{name}{LATE}” of 0 points in Canvas, and export its gradebook again"
        )


@dataclass(frozen=True)
class _Column:
    """The exercises that a column counts, and the assignment whose late penalties are taken off there."""

    slugs: Sequence[str] = ()
    late: str = ""

    def cell(self, student: StudentRecord) -> str:
        if self.slugs:
            return score(student, self.slugs, late=[self.late])
        return number(0.0 - penalty(student, [self.late]))


def _columns(students: Sequence[StudentRecord], catalog: Catalog, roster: Roster) -> dict[str, _Column]:
    """The columns by their headers."""
    judged = {slug for student in students for slug in student.exercises}
    penalized = {name for student in students for name in student.penalties}
    every: dict[str, _Column] = {}
    known: dict[str, _Column] = {}
    for section in catalog.assignments:
        slugs = [e.slug for e in section.exercises if e.slug in judged]
        names = [(e.slug, e.title, _Column([e.slug])) for e in section.exercises if e.slug in judged]
        whole = (section.name, section.title, _Column(slugs, section.name))
        late = (section.name + LATE, section.title + LATE, _Column(late=section.name))
        for name, title, column in [*names, *([whole] if slugs else []), late]:
            header = roster.assignments.get(name) or roster.assignments.get(title)
            is_taken = any(other.late == section.name for other in known.values())
            if header and (column.slugs or not is_taken):
                known[header] = column
        every |= {e.slug: _Column([e.slug]) for e in section.exercises if e.slug in judged and not e.is_extra}
        every |= {section.name + LATE: _Column(late=section.name)} if section.name in penalized else {}
    return known or every


def _known(row: Mapping[str, str]) -> list[str]:
    return [row.get(column) or "" for column in STUDENT]


def _guessed(told: course.Student) -> list[str]:
    """The columns of a student whom no export of Canvas tells: Canvas's own file names hold the id."""
    for called in (told.id, *told.aliases):
        if canvas := re.fullmatch(r"(.+)_(\d+)", called):
            return [told.name or canvas[1], canvas[2], "", "", told.section]
    return [told.name or told.id, "", "", told.id, told.section]


def _turned(name: str) -> str:
    """`Ada Lovelace` for `Lovelace, Ada`."""
    last, comma, first = name.partition(", ")
    return f"{first} {last}" if comma else name


def load_roster(results: Path) -> Roster | None:
    """The roster among the results, if there is one."""
    file = results / ROSTER
    if not file.is_file():
        return None
    header, body = spreadsheet.table(file)
    if header[:2] != list(STUDENT[:2]) or "Section" not in header:
        raise KataError(
            f"{paths.shown(file)} is no export of Canvas's gradebook (its first columns are not Student, ID, "
            "…, Section); export it again there, or take the file away"
        )
    assignments = {}
    for cell in header[header.index("Section") + 1 :]:
        if titled := re.fullmatch(r"(.+?) \(\d+\)", cell):
            assignments[titled[1]] = cell
    students = [dict(zip(header, row, strict=False)) for _, row in body if POINTS.strip() not in row[0]]
    return Roster(students, assignments)
