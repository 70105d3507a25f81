"""Read what a gradebook has beside the automatic scores: scores and comments by hand, late penalties."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from grader.core.errors import KataError
from grader.course.catalog import Catalog
from grader.course.cell_names import answer_cell
from grader.nbgrader.connection import opened, place
from grader.records.corrections import Corrections
from grader.records.records import ByHand


def read(url: str, catalog: Catalog) -> Corrections:
    """The corrections in a gradebook, which stays as it is.

    Raises:
        KataError: there is no such gradebook, or it cannot be read.
    """
    where = place(url)
    file = where.url.database if where.url.get_backend_name() == "sqlite" else None
    if file and not file.startswith("file:") and not Path(file).is_file():
        raise KataError(
            f"there is no gradebook {where.shown}, so corrections and penalties would be lost; "
            "name it with --gradebook, or do without: --gradebook none"
        )
    with opened(where) as gradebook:
        return Corrections(_by_hand(gradebook.db, catalog), _penalties(gradebook.db))


def _by_hand(db: Any, catalog: Catalog) -> dict[tuple[str, str], ByHand]:
    from nbgrader.api import Comment, Grade

    graded = {(e.assignment, e.slug): e.slug for e in catalog.exercises}
    commented = {(e.assignment, answer_cell(e.slug)): e.slug for e in catalog.exercises}
    found: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for grade in db.query(Grade).filter(Grade.manual_score.isnot(None) | (Grade.extra_credit != 0)):
        if slug := graded.get((grade.assignment.name, grade.name)):
            scores = {"score": grade.manual_score, "extra_credit": grade.extra_credit or 0.0}
            found[grade.student.id, slug] |= scores
    for remark in db.query(Comment).filter(Comment.manual_comment != ""):
        slug = commented.get((remark.assignment.name, remark.name))
        if slug and (text := remark.manual_comment.strip()):
            found[remark.student.id, slug]["comment"] = text
    return {key: ByHand(**entered) for key, entered in found.items()}


def _penalties(db: Any) -> dict[tuple[str, str], float]:
    from nbgrader.api import SubmittedNotebook

    found: dict[tuple[str, str], float] = defaultdict(float)
    for notebook in db.query(SubmittedNotebook).filter(SubmittedNotebook.late_submission_penalty > 0):
        found[notebook.student.id, notebook.assignment.name] += notebook.late_submission_penalty
    return dict(found)
