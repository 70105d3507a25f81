"""Cells of tables for other programs: scores, numbers, and texts that no spreadsheet runs."""

from collections.abc import Collection, Sequence

from grader.course.catalog import Catalog
from grader.records.records import StudentRecord

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def score(
    student: StudentRecord, slugs: Sequence[str], otherwise: str = "", late: Collection[str] = ()
) -> str:
    """What the student has of these exercises together; where none of them was judged, that is no score.

    `late` names the assignments whose penalties are taken off.
    """
    held = [student.exercises[slug] for slug in slugs if slug in student.exercises]
    judged = [e.score for e in held if not e.needs_manual_grade]
    return number(sum(judged) - penalty(student, late)) if judged else otherwise


def penalty(student: StudentRecord, assignments: Collection[str]) -> float:
    """What lateness costs the student in these assignments."""
    return sum(points for name, points in student.penalties.items() if name in assignments)


def points(catalog: Catalog, slugs: Sequence[str]) -> float:
    """What these exercises are worth together."""
    return sum(exercise.points for exercise in catalog.exercises if exercise.slug in slugs)


def number(value: float) -> str:
    """`2`, `1.5`: no trailing zeros, no exponent, no noise of binary fractions."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def text(value: str) -> str:
    """The cell's text, such that no spreadsheet runs it: a formula gets a leading apostrophe."""
    return f"'{value}" if value.startswith(_FORMULA) else value
