"""What a hand-in and a table of times tell of when work came, beside what was known before."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import timezone

from grader.classroom.submissions import moments
from grader.classroom.submissions.class_folder import Submission, listed
from grader.core.errors import KataError
from grader.course.exercise import Exercise
from grader.records.arrivals import Arrival, Arrivals, changed, stamp
from grader.records.log import Change


def arrived(
    before: Arrivals,
    work: Iterable[Submission],
    judged: Collection[Exercise],
    told: Mapping[tuple[str, str], str],
) -> dict[tuple[str, str], Arrival]:
    """All that is known now.

    A hand-in tells of the assignments that are judged and answered in it, as far as nbgrader stamped or a
    platform marked it. What a table tells counts more, until a table tells otherwise; an empty time
    withdraws it.
    """
    found = dict(before)
    for submission in work:
        for assignment in answered(submission, judged):
            key = submission.student, assignment
            if text := submission.times.get(assignment):
                found[key] = replace(found.get(key, Arrival()), stamped=_stamped(text))
            if submission.late is not None:
                found[key] = replace(found.get(key, Arrival()), late=submission.late)
    for key, time in told.items():
        arrival = found.get(key, Arrival())
        if time != arrival.told:
            found[key] = replace(arrival, told=time, withdrawn="" if time else arrival.told)
    return found


def of_before(
    changes: Iterable[Change], before: Arrivals, now: Arrivals, judged: Iterable[Exercise]
) -> tuple[str, ...]:
    """A note on who answers otherwise than at the time that still counts: it may be another now."""
    assignments = {exercise.slug: exercise.assignment for exercise in judged}
    anew = {
        (change.student, assignments.get(change.exercise, ""))
        for change in changes
        if change.before and "answer" in change.why
    }
    same = sorted(key for key in anew & now.keys() if now[key].time and now[key] == before.get(key))
    names = [f"{student} {assignment} {now[student, assignment]}" for student, assignment in same]
    return listed("handed in anew, at a time of before; where it came later, say so with --times", names)


def answered(submission: Submission, judged: Collection[Exercise]) -> list[str]:
    """The assignments of these exercises in which somebody handed in something."""
    there = submission.answers.keys() | submission.problems.keys()
    return [*{exercise.assignment: None for exercise in judged if exercise.slug in there}]


def _stamped(text: str) -> str:
    """nbgrader's time stamp, which means UTC where it names no zone; what is no time, as it stands."""
    try:
        moment = moments.read({"timestamp.txt": text})["timestamp.txt"]
    except KataError:
        return text
    return stamp(moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc))


def notes(before: Arrivals, after: Arrivals, told: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    """What there is to say of it, a line each: which times changed, and how many are new."""
    new = sum(time != "" and not before.get(key, Arrival()).is_known for key, time in told.items())
    moved = changed(before, after)
    count = f"{new} time{'s' if new != 1 else ''} of arrival entered"
    words = f"{len(moved)} time{'s' if len(moved) != 1 else ''} of arrival changed"
    return ((count,) if new else ()) + listed(words, moved)
