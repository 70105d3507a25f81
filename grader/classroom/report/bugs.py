"""Bugs of capstones on the pages: how many students had each and found it, and which of theirs one found."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grader.classroom.report.words import percent
from grader.course.exercise import Exercise
from grader.records.records import ExerciseRecord, StudentRecord


@dataclass(frozen=True)
class BugRow:
    """One bug of a pool: by its symptom, how many had it in their variant, and how many of these found it."""

    name: str
    symptom: str
    had: int
    found: int
    share: int


@dataclass(frozen=True)
class CapstoneBugs:
    """A capstone's bugs, those that were found least first, and the names of those that nobody had."""

    slug: str
    title: str
    students: int
    variants: int
    rows: list[BugRow]
    unused: list[str]


@dataclass(frozen=True)
class OwnBug:
    """A bug of a student's variant, by its symptom: its name would tell what is wrong."""

    symptom: str
    found: bool


def of_class(records: Sequence[StudentRecord], exercises: Sequence[Exercise]) -> list[CapstoneBugs]:
    """A table for each capstone of which anybody's variant is known."""
    held = ((e, [r.exercises[e.slug] for r in records if e.slug in r.exercises]) for e in exercises)
    return [_capstone(e, known) for e, judged in held if (known := [r for r in judged if r.bugs])]


def of_student(exercise: Exercise, record: ExerciseRecord) -> list[OwnBug]:
    """The bugs that a student was given, those that were found first; none of what is no capstone."""
    own = [OwnBug(_symptom(exercise, name), found) for name, found in record.bugs.items()]
    return sorted(own, key=lambda bug: not bug.found)


def _capstone(exercise: Exercise, judged: Sequence[ExerciseRecord]) -> CapstoneBugs:
    had = Counter(name for record in judged for name in record.bugs)
    found = Counter(name for record in judged for name, is_found in record.bugs.items() if is_found)
    rows = [
        BugRow(name, _symptom(exercise, name), count, found[name], percent(found[name] / count))
        for name, count in had.items()
    ]
    return CapstoneBugs(
        exercise.slug,
        exercise.title,
        len(judged),
        len({record.variant for record in judged}),
        sorted(rows, key=lambda row: (row.found / row.had, -row.had, row.name)),
        [name for name in exercise.pool.names if name not in had],
    )


def _symptom(exercise: Exercise, name: str) -> str:
    """What is seen of a bug; of one that is in the pool no more, its name."""
    return next(iter(exercise.pool.hints_for(name)), name)
