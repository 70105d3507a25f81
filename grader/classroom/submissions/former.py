"""Results under a name that the roster knows now: joined with the student's own, as one person is one row."""

from dataclasses import replace
from pathlib import Path

from grader.classroom.submissions.roll_call import ASKS, is_judged
from grader.core.errors import KataError
from grader.course import paths
from grader.course.roster import Roster
from grader.records.records import (
    ExerciseRecord,
    StudentRecord,
    files,
    read_student,
    student_to_json,
    write_json,
)


def settle(results: Path, roster: Roster) -> tuple[str, ...]:
    """Join them; a line says what was, and names what was judged under both names.

    Raises:
        KataError: the results cannot be written.
    """
    lines = []
    for file in files(results):
        former = read_student(file)
        student = roster.find(former.student) if former else None
        if former is None or student is None or student.id == former.student:
            continue
        place = results / f"{student.id}.json"
        own = read_student(place)
        try:
            write_json(place, student_to_json(_joined(former, own, student.id)))
            if not file.samefile(place):  # as it is where case does not count
                file.unlink()
        except OSError as error:
            raise KataError(
                f"cannot write {paths.shown(place)}: {error.strerror}; mend that and run again"
            ) from None
        lines.append(f"results of {former.student} are {student.id}'s now{_both(former, own)}")
    return tuple(lines)


def _joined(former: StudentRecord, own: StudentRecord | None, student: str) -> StudentRecord:
    """All that either was judged on; the student's own verdict, where both have one."""
    if own is None:
        notes = tuple(note for note in former.notes if ASKS not in note)
        return replace(former, student=student, notes=notes)
    better = {slug: e for slug, e in former.exercises.items() if _is_better(e, own.exercises.get(slug))}
    return replace(own, student=student, exercises={**own.exercises, **better})


def _is_better(former: ExerciseRecord, own: ExerciseRecord | None) -> bool:
    return own is None or (is_judged(former) and not is_judged(own))


def _both(former: StudentRecord, own: StudentRecord | None) -> str:
    """What was judged under both names, with the scores."""
    known = own.exercises if own else {}
    both = {slug: (e, known[slug]) for slug, e in former.exercises.items() if slug in known}
    told = [
        f"{slug} ({mine.score:.4g}, not {theirs.score:.4g})"
        for slug, (theirs, mine) in both.items()
        if is_judged(theirs)
        and is_judged(mine)
        and (theirs.status, theirs.score) != (mine.status, mine.score)
    ]
    return f"; judged under both names, so look: {', '.join(told)}" if told else ""
