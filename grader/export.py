"""Export results to other programs' formats."""

import csv
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from grader import paths
from grader.catalog import Catalog
from grader.errors import KataError
from grader.results import StudentRecord, read_student

NOT_GRADED = "not graded"


def to_csv(records: Iterable[StudentRecord], catalog: Catalog, out: TextIO) -> None:
    """One row per student: student, each exercise, each section, total, points, flags.

    Holds the exercises that at least one record has, in the catalog's order. What was not judged
    is `not graded`, never 0, and counts for nothing in the totals. `points` are those that the
    student could earn.
    """
    students = list(records)
    slugs = [e.slug for e in catalog.exercises if any(e.slug in s.exercises for s in students)]
    sections = {
        section.name: [e.slug for e in section.exercises if e.slug in slugs] for section in catalog.sections
    }
    sections = {name: held for name, held in sections.items() if held}
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", *slugs, *sections, "total", "points", "flags"])
    for student in students:
        writer.writerow(
            [
                _text(student.student),
                *(_score(student, [slug]) for slug in slugs),
                *(_score(student, held) for held in sections.values()),
                _score(student, slugs),
                _number(student.points),
                _text(
                    "; ".join(f"{slug}: {flag}" for slug, e in student.exercises.items() for flag in e.flags)
                ),
            ]
        )


FORMATS: dict[str, Callable[[Iterable[StudentRecord], Catalog, TextIO], None]] = {"csv": to_csv}


def _score(student: StudentRecord, slugs: list[str]) -> str:
    held = [student.exercises[slug] for slug in slugs if slug in student.exercises]
    judged = [e.score for e in held if not e.needs_manual_grade]
    return _number(sum(judged)) if judged else NOT_GRADED


def _number(value: float) -> str:
    """`2`, `1.5`: no trailing zeros, no exponent, no noise of binary fractions."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _text(value: str) -> str:
    """The cell's text, such that no spreadsheet runs it: a formula gets a leading apostrophe."""
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


def load_results(folder: Path, tell: Callable[[str], None] = _to_stderr) -> list[StudentRecord]:
    """The records in `folder`, `<student>.json` each, sorted by file name.

    A record that cannot be read is left out, which `tell` says in one line.
    """
    if not folder.is_dir():
        raise KataError(
            f"{paths.shown(folder)} is not a folder of results; run `kata grade` first, or name its --out"
        )
    records = []
    for file in sorted(folder.glob("[!.]*.json")):
        record = read_student(file)
        if record is None:
            tell(f"{paths.shown(file)} is not a record of this version; left out (grade again to renew it)")
        else:
            records.append(record)
    if not records:
        raise KataError(f"{paths.shown(folder)} holds no results; run `kata grade` first, or name its --out")
    return records
