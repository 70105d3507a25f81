"""Results as Gradescope shows them: a `results.json` for each submission.

Its keys are those of "Output format" in the autograder specifications
(https://gradescope-autograders.readthedocs.io/en/latest/specs/). An exercise is a test case with its own
score; what was not judged or weighs nothing has none. The points are those of the assignment in Gradescope.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grader.classroom.export.tables import number
from grader.core.errors import KataError
from grader.core.sanitize import plain
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.protocol.statuses import SOLVED
from grader.records.comments import comment
from grader.records.records import ExerciseRecord, StudentRecord, write_json

RESULTS = "results.json"


def result(record: StudentRecord, catalog: Catalog) -> dict[str, Any]:
    """What Gradescope reads of one submission."""
    held = [(e, record.exercises[e.slug]) for e in catalog.exercises if e.slug in record.exercises]
    late = [f"late: {number(points)} points taken off {name}" for name, points in record.penalties.items()]
    return {
        "score": record.score,
        "output": "\n".join([*map(plain, record.notes), *late]),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"student": record.student, "seed": record.seed, "points": record.points},
        "tests": [_test(exercise, judged) for exercise, judged in held],
    }


def _test(exercise: Exercise, judged: ExerciseRecord) -> dict[str, Any]:
    by_hand = plain(judged.by_hand.comment) if judged.by_hand else ""
    case: dict[str, Any] = {
        "name": f"{exercise.slug}: {exercise.title}",
        "output": "\n\n".join(filter(None, [by_hand, comment(judged)])),
        "output_format": "text",
        "name_format": "text",
        "tags": [exercise.assignment, judged.status],
        "visibility": "visible",
        "extra_data": {"slug": exercise.slug, "status": judged.status},
    }
    if judged.needs_manual_grade:
        return case
    if judged.points:
        case |= {"score": judged.score, "max_score": judged.points}
    if not judged.is_graded_by_hand:  # else Gradescope looks at the score
        case["status"] = "passed" if judged.status in SOLVED else "failed"
    return case


def to_gradescope(records: Iterable[StudentRecord], catalog: Catalog, folder: Path) -> int:
    """Write `folder/<student>/results.json` for each; return how many."""
    count = 0
    for record in records:
        file = folder / Path(record.student).name / RESULTS
        try:
            write_json(file, result(record, catalog))
        except OSError as error:
            raise KataError(
                f"cannot write {file}: {error.strerror}; choose another folder with --to"
            ) from None
        count += 1
    return count
