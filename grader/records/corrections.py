"""What people and due dates change of scores: entered in a gradebook, and applied to records here."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from grader.course.catalog import Catalog
from grader.records.records import ByHand, ExerciseRecord, StudentRecord


@dataclass(frozen=True)
class Corrections:
    """What a gradebook has beside the automatic scores.

    Args:
        by_hand: what a person entered, by student and exercise.
        penalties: points taken off for lateness, by student and assignment.
    """

    by_hand: Mapping[tuple[str, str], ByHand] = field(default_factory=dict)
    penalties: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """How much that is: "2 scores, 1 comment and 1 late penalty", or nothing at all."""
        scores = sum(one.score is not None or one.extra_credit != 0 for one in self.by_hand.values())
        comments = sum(one.comment != "" for one in self.by_hand.values())
        counts = [
            _count(scores, "score", "scores"),
            _count(comments, "comment", "comments"),
            _count(len(self.penalties), "late penalty", "late penalties"),
        ]
        *most, last = [count for count in counts if count] or [""]
        return f"{', '.join(most)} and {last}" if most else last


NONE = Corrections()


def corrected(record: StudentRecord, corrections: Corrections, catalog: Catalog) -> StudentRecord:
    """The record with a person's scores instead of ours, extra credit on top, comments, and penalties.

    A penalty takes no more than what the assignment has earned.
    """
    exercises = {
        slug: _corrected(judged, corrections.by_hand.get((record.student, slug)))
        for slug, judged in record.exercises.items()
    }
    earned: dict[str, float] = defaultdict(float)
    for exercise in catalog.exercises:
        if exercise.slug in exercises:
            earned[exercise.assignment] += exercises[exercise.slug].score
    due = {name: corrections.penalties.get((record.student, name), 0.0) for name in earned}
    taken = {name: min(due[name], earned[name]) for name in earned}
    penalties = {name: round(points, 4) for name, points in taken.items() if points > 0}
    return replace(record, exercises=exercises, penalties=penalties)


def _corrected(judged: ExerciseRecord, by_hand: ByHand | None) -> ExerciseRecord:
    if by_hand is None:
        return judged
    noted = replace(judged, by_hand=by_hand)
    if noted.needs_manual_grade:
        return noted
    score = judged.score if by_hand.score is None else by_hand.score
    return replace(noted, score=round(score + by_hand.extra_credit, 4))


def _count(n: int, one: str, more: str) -> str:
    return f"{n} {one if n == 1 else more}" if n else ""
