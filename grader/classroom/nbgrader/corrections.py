"""Read what a gradebook has beside the automatic scores: scores and comments by hand, late penalties."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime, timezone
from typing import Any

from grader.classroom.nbgrader import worth
from grader.classroom.nbgrader.connection import opened, place
from grader.core.errors import KataError
from grader.course.catalog import Catalog
from grader.course.cell_names import answer_cell
from grader.records.corrections import Corrections
from grader.records.records import ByHand


def read(url: str, catalog: Catalog) -> Corrections:
    """The corrections in a gradebook, which stays as it is.

    Raises:
        KataError: there is no such gradebook, or it cannot be read.
    """
    where = place(url)
    if not where.may_exist:
        raise KataError(
            f"there is no gradebook {where.shown}, so corrections and penalties would be lost; "
            "name it with --gradebook, or do without: --gradebook none"
        )
    with opened(where) as gradebook:
        db = gradebook.db
        by_hand, automatic, outdated = _by_hand(db, catalog)
        penalties, late, below = _lateness(db, catalog)
        return Corrections(
            by_hand,
            penalties,
            late,
            automatic | below,
            outdated,
            worth.differing(db, catalog),
            _elsewhere(db, catalog, by_hand),
            _redated(db, catalog),
            where.shown,
        )


_Scores = dict[tuple[str, str], float | None]


def _by_hand(
    db: Any, catalog: Catalog
) -> tuple[dict[tuple[str, str], ByHand], _Scores, set[tuple[str, str]]]:
    """What people entered, the automatic scores below, and which of these have changed since."""
    from nbgrader.api import Comment, Grade

    graded = {(e.assignment, e.slug): e.slug for e in catalog.exercises}
    commented = {(e.assignment, answer_cell(e.slug)): e.slug for e in catalog.exercises}
    found: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    automatic: _Scores = {}
    outdated = set()
    for grade in db.query(Grade).filter(Grade.manual_score.isnot(None) | (Grade.extra_credit != 0)):
        if slug := graded.get((grade.assignment.name, grade.name)):
            key = grade.student.id, slug
            found[key] |= {"score": grade.manual_score, "extra_credit": grade.extra_credit or 0.0}
            automatic[key] = grade.auto_score
            if grade.manual_score is not None and grade.needs_manual_grade:
                outdated.add(key)
    for remark in db.query(Comment).filter(Comment.manual_comment != ""):
        slug = commented.get((remark.assignment.name, remark.name))
        if slug and (text := remark.manual_comment.strip()):
            found[remark.student.id, slug]["comment"] = text
    return {key: ByHand(**entered) for key, entered in found.items()}, automatic, outdated


def _elsewhere(db: Any, catalog: Catalog, by_hand: Collection[tuple[str, str]]) -> list[str]:
    """What people or lateness changed before an assignment got another name, or an exercise another place."""
    from nbgrader.api import Grade, SubmittedNotebook

    now = {e.slug: e.assignment for e in catalog.exercises}
    found = set()
    for grade in db.query(Grade).filter(Grade.manual_score.isnot(None) | (Grade.extra_credit != 0)):
        name = grade.assignment.name
        if now.get(grade.name, name) != name and (grade.student.id, grade.name) not in by_hand:
            found.add(f"{grade.student.id} {grade.name} in {name}")
    for notebook in db.query(SubmittedNotebook).filter(SubmittedNotebook.late_submission_penalty > 0):
        name = notebook.assignment.name
        if name not in now.values() and any(grade.name in now for grade in notebook.grades):
            found.add(f"{notebook.student.id}, late with {name}")
    return sorted(found)


def _redated(db: Any, catalog: Catalog) -> list[str]:
    from nbgrader.api import Assignment

    def in_utc(due: datetime) -> datetime:  # as nbgrader keeps it
        return due if due.tzinfo is None else due.astimezone(timezone.utc).replace(tzinfo=None)

    due = {section.name: in_utc(section.due) for section in catalog.assignments if section.due is not None}
    return [one.name for one in db.query(Assignment) if due.get(one.name, one.duedate) != one.duedate]


def _lateness(
    db: Any, catalog: Catalog
) -> tuple[dict[tuple[str, str], float], set[tuple[str, str]], _Scores]:
    """The penalties, whose work is late, and the automatic scores that a penalty is reckoned with."""
    from nbgrader.api import SubmittedAssignment, SubmittedNotebook

    taken: dict[tuple[str, str], float] = defaultdict(float)
    for notebook in db.query(SubmittedNotebook).filter(SubmittedNotebook.late_submission_penalty > 0):
        taken[notebook.student.id, notebook.assignment.name] += notebook.late_submission_penalty
    graded = {(e.assignment, e.slug) for e in catalog.exercises}
    late = set()
    automatic: _Scores = {}
    for submission in db.query(SubmittedAssignment).filter(SubmittedAssignment.timestamp.isnot(None)):
        if submission.total_seconds_late:
            late.add((submission.student.id, submission.name))
            for grade in (grade for notebook in submission.notebooks for grade in notebook.grades):
                if (submission.name, grade.name) in graded:
                    automatic[submission.student.id, grade.name] = grade.auto_score
    return dict(taken), late, automatic
