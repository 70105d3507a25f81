"""Who of the roster handed in nothing, and who handed in and is not in it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader.course.roster import Roster
from grader.records.records import read_student
from grader.submissions.class_folder import Classwork, Submission, listed

ABSENT = "handed in nothing"


def called(work: Classwork, roster: Roster, results: Path) -> Classwork:
    """The class with those who handed in nothing, and notes on both.

    What somebody who hands in nothing now was judged on before stays. Where one student's work was named,
    nobody else is called.
    """
    if not roster.students:
        return work
    there = {submission.student for submission in work.submissions}
    strangers = [s.student for s in work.submissions if roster.find(s.student) is None]
    notes = listed("not in the roster, kept under this name", _with_nearest(strangers, roster))
    if work.is_one:
        return replace(work, notes=work.notes + notes)
    absent = [_absent(s.id, results) for s in roster.students if s.id not in there]
    every = tuple(sorted((*work.submissions, *absent), key=lambda submission: submission.student))
    notes += listed("nothing here from", [submission.student for submission in absent])
    return Classwork(every, work.notes + notes)


def _with_nearest(strangers: Iterable[str], roster: Roster) -> list[str]:
    near = {name: roster.nearest(name) for name in strangers}
    return [f"{name} (is {s.id} meant? add it as an alias)" if s else name for name, s in near.items()]


def _absent(student: str, results: Path) -> Submission:
    earlier = read_student(results / f"{student}.json")
    if earlier is None:
        return Submission(student, notes=(ABSENT,))
    return Submission(student, notes=earlier.notes, kept=frozenset(earlier.exercises))
