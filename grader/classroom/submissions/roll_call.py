"""Who of the roster handed in nothing, and who handed in and is not in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.classroom.submissions.class_folder import Classwork, Submission, listed
from grader.course.roster import Roster, Student
from grader.records.records import ExerciseRecord, read_student

ABSENT = "handed in nothing"
KEPT = "kept from an earlier run, as nothing was handed in now"
"""Before the exercises of which somebody has a verdict, and no answer in this hand-in."""
_DOUBT = "may have handed in as"
ASKS = "`kata roster match` asks"


def called(work: Classwork, roster: Roster, results: Path, asked: Iterable[str]) -> Classwork:
    """The class with those who handed in nothing, and notes on both.

    What somebody who hands in nothing now was judged on before stays. Who may have handed in under a name
    that the roster does not know needs a person for the exercises `asked`, by slug. Where one student's work
    was named, nobody else is called.
    """
    if not roster.students:
        return work
    there = {submission.student for submission in work.submissions}
    meant = {name: roster.meant(name) for name in there if roster.find(name) is None}
    shown = [_shown(name, meant[name], roster) for name in sorted(meant)]
    notes = listed("not in the roster, kept under this name", shown)
    known = tuple(_asked_about(one, meant.get(one.student, ()), roster) for one in work.submissions)
    if work.is_one:
        return replace(work, submissions=known, notes=work.notes + notes)
    doubts = {student.id: name for name, students in sorted(meant.items()) for student in students}
    slugs = tuple(asked)
    absent = [_absent(s.id, results, doubts, slugs) for s in roster.students if s.id not in there]
    every = tuple(sorted((*known, *absent), key=lambda submission: submission.student))
    notes += listed("nothing here from", [submission.student for submission in absent])
    return Classwork(every, work.notes + notes)


def _shown(name: str, meant: Sequence[Student], roster: Roster) -> str:
    return f"{name} (is it {_either(meant, roster)}? {ASKS})" if meant else name


def _either(meant: Sequence[Student], roster: Roster) -> str:
    return " or ".join(roster.label(student.id) for student in meant)


def _asked_about(submission: Submission, meant: Sequence[Student], roster: Roster) -> Submission:
    if not meant:
        return submission
    note = f"not in the roster: is it {_either(meant, roster)}? {ASKS}"
    return replace(submission, notes=(*submission.notes, note))


def _absent(student: str, results: Path, doubts: Mapping[str, str], asked: Iterable[str]) -> Submission:
    earlier = read_student(results / f"{student}.json")
    kept = (
        frozenset(slug for slug, e in earlier.exercises.items() if is_judged(e)) if earlier else frozenset()
    )
    notes = earlier.notes if earlier and kept else (ABSENT,)
    if student not in doubts:
        return Submission(student, notes=notes, kept=kept)
    doubt = f"{_DOUBT} {doubts[student]}: {ASKS}"
    problems = {slug: doubt for slug in asked if slug not in kept}
    return Submission(student, problems=problems, notes=(doubt,) if problems else notes, kept=kept)


def is_judged(exercise: ExerciseRecord) -> bool:
    """Whether a record is of work, and does not say that there was none."""
    return exercise.status != "todo" and not any(flag.startswith(_DOUBT) for flag in exercise.flags)
