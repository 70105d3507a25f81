"""Scores as a CSV that Canvas's gradebook imports.

The columns are those of Canvas's own export, which its importer expects (`lib/gradebook_exporter.rb` and
`lib/gradebook_importer.rb` of instructure/canvas-lms; "How do I import grades in the Gradebook?" in Canvas's
guides): Student, ID, SIS User ID, SIS Login ID, Section, then a column `Assignment (id)` for each
assignment, and as second row the points possible. Canvas knows a student by ID, else by SIS ids, else by
name, and an assignment by its id, else by its exact title. What it calculates itself is read only.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from grader.classroom.export.canvas_roster import FILE, POINTS, STUDENT, CanvasExport
from grader.classroom.export.tables import number, penalty, points, score, text
from grader.core.errors import KataError
from grader.course import roster as course
from grader.course.catalog import Catalog
from grader.records.records import StudentRecord

TOTAL = "Final Points"
LATE = " late penalty"
READ_ONLY = "(read only)"


_SKIPPED = re.compile("(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
"""What a column is called that Canvas's importer leaves out, as one of its totals."""


def to_canvas(
    records: Iterable[StudentRecord],
    catalog: Catalog,
    out: TextIO,
    roster: CanvasExport | None = None,
    tell: Callable[[str], None] = lambda line: None,
    enrolled: course.Roster = course.NOBODY,
) -> None:
    """A row for each student; what was not judged is an empty cell.

    With a roster, the columns are those exercises and sections that are assignments in Canvas; without
    one, or where it has none of them, each exercise by its slug, without steps that weigh nothing. Late
    penalties are taken off a section's total; where that is no column, they are one: points below zero.
    Students are found in Canvas by all that the course's own roster, `enrolled`, calls them. Where two
    would be one there, neither has a row.
    """
    students = list(records)
    columns = _columns(students, catalog, roster or CanvasExport())
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*STUDENT, *columns, TOTAL])
    possible = [number(points(catalog, column.slugs)) for column in columns.values()]
    writer.writerow([POINTS, *[""] * (len(STUDENT) - 1), *possible, READ_ONLY])
    found = [_rows(student, roster, enrolled) for student in students]
    having = Counter(rows[0].get("ID") for rows in found if len(rows) == 1)
    late = {column.late for column in columns.values()}
    judged = list(dict.fromkeys(slug for column in columns.values() for slug in column.slugs))
    unsure = []
    for student, rows in zip(students, found, strict=True):
        own = rows[0].get("ID")
        if len(rows) > 1 or (own and having[own] > 1):
            unsure.append(student.student)
            continue
        cells = (column.cell(student) for column in columns.values())
        told = (text(rows[0].get(column) or "") for column in STUDENT)
        writer.writerow([*told, *cells, score(student, judged, late=late)])
    unknown = [one.student for one, rows in zip(students, found, strict=True) if _is_new(rows[0], roster)]
    for remark in _remarks(students, columns, unknown, unsure):
        tell(remark)


@dataclass(frozen=True)
class _Column:
    """The exercises that a column counts, and the assignment whose late penalties are taken off there."""

    slugs: Sequence[str] = ()
    late: str = ""

    def cell(self, student: StudentRecord) -> str:
        if self.slugs:
            return score(student, self.slugs, late=[self.late])
        return number(0.0 - penalty(student, [self.late]))


def _columns(students: Sequence[StudentRecord], catalog: Catalog, roster: CanvasExport) -> dict[str, _Column]:
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
            header = roster.header(name, title)
            is_taken = any(other.late == section.name for other in known.values())
            if header and (column.slugs or not is_taken):
                other = known.get(header, column)
                if other.slugs != column.slugs and not points(catalog, column.slugs):
                    continue  # a first step called like an exercise
                if other.slugs != column.slugs and points(catalog, other.slugs):
                    told = f"{FILE}: {header} may be {name}, and another of ours that is called so"
                    raise KataError(f"{told}; call it by the exercise's or assignment's short name in Canvas")
                known[header] = column
        every |= {e.slug: _Column([e.slug]) for e in section.exercises if e.slug in judged and not e.is_extra}
        every |= {section.name + LATE: _Column(late=section.name)} if section.name in penalized else {}
    return known or every


def _rows(
    student: StudentRecord, roster: CanvasExport | None, enrolled: course.Roster
) -> list[Mapping[str, str]]:
    """What Canvas may call a student; whom no export of its own tells, as the course's roster does."""
    told = enrolled.find(student.student) or course.Student(student.student)
    if roster and (found := roster.find(told)):
        return found
    known = {"Student": told.name or told.id, "Section": told.section}
    called = next(filter(None, map(course.OF_CANVAS.fullmatch, (told.id, *told.aliases))), None)
    if called:
        return [{**known, "Student": told.name or called["name"], "ID": called["id"]}]
    numbers = [alias for alias in told.aliases if alias.isdigit()]
    return [{**known, "SIS Login ID": told.id, "ID": numbers[0] if len(numbers) == 1 else ""}]


def _is_new(row: Mapping[str, str], roster: CanvasExport | None) -> bool:
    return roster is not None and row not in roster.students


def _remarks(
    students: Sequence[StudentRecord],
    columns: Mapping[str, _Column],
    unknown: Sequence[str],
    unsure: Sequence[str],
) -> Iterator[str]:
    """What Canvas will ask, lacks, or leaves out."""
    if unknown:
        yield f"{FILE} has no row for {', '.join(unknown)}; Canvas will ask who that is"
    if unsure:
        yield f"left out, as two are one in Canvas, or one may be two: {', '.join(unsure)}; mend the roster"
    for header in filter(_SKIPPED.search, columns):
        yield f"Canvas skips the column {header!r}, as totals of its own are called so: rename it there"
    taken = {column.late for column in columns.values()}
    for name in dict.fromkeys(name for student in students for name in student.penalties):
        if name not in taken:
            yield (
                f"{FILE} has no column for the late penalties of {name}: make an assignment "
                f"“{name}{LATE}” of 0 points in Canvas, and export its gradebook again"
            )
