"""What exercises are worth in a gradebook, and scores there brought to what they are worth now."""

from collections.abc import Collection, Iterable
from typing import Any

from grader.classroom.nbgrader.lateness import Penalties
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise


def differing(db: Any, catalog: Catalog) -> dict[str, float]:
    """What the gradebook says of those exercises that are worth something else now."""
    from nbgrader.api import GradeCell

    known = {(e.assignment, e.slug): e.points for e in catalog.exercises}
    cells = (cell for cell in db.query(GradeCell) if cell.notebook.name == cell.assignment.name)
    found = {(cell.assignment.name, cell.name): cell.max_score for cell in cells}
    return {key[1]: worth for key, worth in found.items() if known.get(key, worth) != worth}


def rescale(gradebook: Any, exercise: Exercise, points: float) -> bool:
    """Bring the automatic scores of an exercise whose points have changed to the new scale; True if so.

    What a person has entered stays, and is to be looked at again.
    """
    from nbgrader.api import Grade, MissingEntry

    try:
        cell = gradebook.find_grade_cell(exercise.slug, exercise.assignment, exercise.assignment)
    except MissingEntry:
        return False
    if cell.max_score == points:
        return False
    for grade in gradebook.db.query(Grade).filter(Grade.cell_id == cell.id):
        if grade.auto_score is not None and cell.max_score:
            grade.auto_score = round(grade.auto_score * points / cell.max_score, 4)
        grade.needs_manual_grade = grade.needs_manual_grade or grade.manual_score is not None
    return True


def reckon_again(
    gradebook: Any, assignments: Iterable[str], written: Collection[str], penalties: Penalties
) -> list[str]:
    """Assign the penalties of those anew who have scores on another scale and were not `written` now.

    Returns a line for each student of whom that fails.
    """
    problems = []
    for name in assignments:
        for submission in gradebook.assignment_submissions(name):
            if submission.student.id in written or not submission.total_seconds_late:
                continue
            try:
                for notebook in submission.notebooks:
                    penalties.assign(notebook)
            except ValueError as failed:
                problems.append(
                    f"{submission.student.id}: late penalty of {name} not reckoned anew: {failed}"
                )
    gradebook.db.commit()
    return problems
