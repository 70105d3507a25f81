"""Export results to other programs' formats."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from grader.classroom.export.canvas import to_canvas
from grader.classroom.export.canvas_roster import load_roster
from grader.classroom.export.gradescope import to_gradescope
from grader.classroom.export.tables import number, penalty, score, text
from grader.classroom.submissions.class_folder import listed
from grader.core.errors import KataError
from grader.core.progress_bar import Progress, silent
from grader.course import paths
from grader.course.catalog import Catalog, Section
from grader.course.roster import NOBODY, Roster
from grader.records.corrections import NONE, Corrections, corrected, expect_current, to_look_at
from grader.records.log import read as read_log
from grader.records.log import reckoned_before
from grader.records.records import (
    SCHEMA,
    StudentRecord,
    files,
    read_student,
    rescaled,
    student_to_json,
    within,
)

NOT_GRADED = "not graded"
LOOK_AGAIN = "scores by hand to look at again"
ELSEWHERE = "entered for assignments that set something else now, and not counted: name these as before"
REDATED = "due at another time in the gradebook: `kata grade` with --gradebook reckons lateness anew"
RECKON_AGAIN = "late, and reckoned before a score by hand: `kata grade` with --gradebook reckons anew"


def to_csv(records: Iterable[StudentRecord], catalog: Catalog, out: TextIO, roster: Roster = NOBODY) -> None:
    """One row per student: student, each exercise, each assignment, total, points, flags.

    Holds the exercises that at least one record has, in the catalog's order, but no steps that weigh nothing:
    here are only scores. What was not judged is `not graded`, never 0, and counts for nothing in the totals.
    `points` are those that the student could earn. Late penalties are taken off in the totals; where anybody
    has one, a column `late_penalty` says how much that is. Names, e-mails and sections have a column each
    where the roster has any.
    """
    students = list(records)
    held = {slug for student in students for slug in student.exercises}
    slugs = [e.slug for e in catalog.exercises if e.slug in held and not e.is_extra]
    sections = {one.name: [e.slug for e in one.exercises if e.slug in slugs] for one in catalog.assignments}
    sections = {name: held for name, held in sections.items() if held}
    writer = csv.writer(out, lineterminator="\n")
    late = ["late_penalty"] if any(student.penalties for student in students) else []
    known = roster.told
    writer.writerow(["student", *known, *slugs, *sections, *late, "total", "points", "flags"])
    for student in students:
        flags = (f"{slug}: {flag}" for slug, e in student.exercises.items() for flag in e.for_instructor)
        writer.writerow(
            [
                text(student.student),
                *(text(roster.of(student.student, column)) for column in known),
                *(score(student, [slug], NOT_GRADED) for slug in slugs),
                *(score(student, held, NOT_GRADED, [name]) for name, held in sections.items()),
                *(number(penalty(student, sections)) for _ in late),
                score(student, slugs, NOT_GRADED, sections),
                number(student.points),
                text("; ".join(flags)),
            ]
        )


def document(records: Iterable[StudentRecord], catalog: Catalog, roster: Roster = NOBODY) -> dict[str, Any]:
    """All records as one, as in `results/`, but the score of what was not judged is null.

    What the roster tells of names, e-mails and sections, each student has.
    """
    students = []
    for record in records:
        data = student_to_json(record)
        for slug, exercise in record.exercises.items():
            if exercise.needs_manual_grade:
                data["exercises"][slug]["score"] = None
        data |= {column: roster.of(record.student, column) for column in roster.told}
        students.append(data)
    slugs = {slug for student in students for slug in student["exercises"]}
    exercises = {
        e.slug: {"section": e.section, "title": e.title, "points": e.points}
        for e in catalog.exercises
        if e.slug in slugs
    }
    return {"schema": SCHEMA, "exercises": exercises, "students": students}


def to_json(records: Iterable[StudentRecord], catalog: Catalog, out: TextIO, roster: Roster = NOBODY) -> None:
    """One document with everything."""
    json.dump(document(records, catalog, roster), out, indent=1)
    out.write("\n")


FORMATS = ("csv", "canvas", "json")
"""What is one document, by the name of its format."""
FOLDERS: dict[str, Callable[[Iterable[StudentRecord], Catalog, Path], int]] = {"gradescope": to_gradescope}
"""What is a document for each student."""


def export(
    results: Path,
    format: str,
    to: Path | None,
    catalog: Catalog,
    progress: Progress = silent,
    corrections: Corrections = NONE,
    assignment: Section | None = None,
    roster: Roster = NOBODY,
) -> None:
    """Write the results in `results`, corrected, to a file or standard output, or to a folder.

    Names and sections of the course's `roster` go where there is a place for them.
    """
    if format not in FORMATS and format not in FOLDERS:
        choices = ", ".join([*FORMATS, *FOLDERS])
        raise KataError(f"--format {format}: there is no such format; choose from {choices}")
    records = load_results(results, catalog, _to_stderr, progress, corrections, assignment)
    for line in to_know(results, records, corrections, catalog):
        _to_stderr(line)
    if format in FOLDERS:
        if to is None:
            raise KataError(f"--format {format} writes a file for each student; name a folder with --to")
        FOLDERS[format](records, catalog, to)
    elif to is None:
        _write(results, format, records, catalog, sys.stdout, roster)
    else:
        try:
            with to.open("w", encoding="utf-8", newline="") as stream:
                _write(results, format, records, catalog, stream, roster)
        except OSError as error:
            raise KataError(f"cannot write {to}: {error.strerror}; choose another file with --to") from None


def to_know(
    results: Path, records: Sequence[StudentRecord], corrections: Corrections, catalog: Catalog
) -> tuple[str, ...]:
    """What there is to say of corrected records, a line each, before anybody relies on their scores."""
    held = {record.student for record in records}
    late = reckoned_before(read_log(results), corrections, catalog) if corrections.late else []
    mine = [one for one in late if one.rpartition(" ")[0] in held]
    lost = listed(ELSEWHERE, [*corrections.elsewhere]) + listed(REDATED, [*corrections.redated])
    return lost + listed(LOOK_AGAIN, to_look_at(records)) + listed(RECKON_AGAIN, mine)


def _write(
    results: Path,
    format: str,
    records: list[StudentRecord],
    catalog: Catalog,
    stream: TextIO,
    roster: Roster,
) -> None:
    if format == "canvas":
        to_canvas(records, catalog, stream, load_roster(results), _to_stderr, roster)
    elif format == "csv":
        to_csv(records, catalog, stream, roster)
    else:
        to_json(records, catalog, stream, roster)


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


def load_results(
    folder: Path,
    catalog: Catalog,
    tell: Callable[[str], None] = _to_stderr,
    progress: Progress = silent,
    corrections: Corrections = NONE,
    assignment: Section | None = None,
) -> list[StudentRecord]:
    """The records in `folder`, `<student>.json` each, sorted by file name, with the points of today.

    They are corrected as `corrections` says; with an assignment, they have only its exercises. A record that
    cannot be read is left out, which `tell` says in one line.

    Raises:
        KataError: there are no results, or the corrections are those of other scores or points.
    """
    if not folder.is_dir():
        raise KataError(
            f"{paths.shown(folder)} is not a folder of results; run `kata grade` first, or name its --out"
        )
    records = []
    points = {exercise.slug: exercise.points for exercise in catalog.exercises}
    found = files(folder)
    for done, file in enumerate(found):
        progress(done, len(found))
        record = read_student(file)
        if record is None:
            tell(f"{paths.shown(file)} is not a record of this version; left out (grade again to renew it)")
        else:
            asked = within(record, (e.slug for e in assignment.exercises)) if assignment else record
            records.append(rescaled(asked, points))
    if not records:
        raise KataError(f"{paths.shown(folder)} holds no results; run `kata grade` first, or name its --out")
    if assignment and not any(record.exercises for record in records):
        raise KataError(
            f"{paths.shown(folder)} holds no results of {assignment.name}; "
            f"run `kata grade --assignment {assignment.name}` first, or name its --out"
        )
    expect_current(records, corrections, catalog)
    return [corrected(record, corrections, catalog) for record in records]
