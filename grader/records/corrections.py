"""What people and due dates change of scores: entered in a gradebook, and applied to records here."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from grader.core.errors import KataError
from grader.course.catalog import Catalog
from grader.records.records import ByHand, ExerciseRecord, StudentRecord

_T = TypeVar("_T")
_SAME = 1e-6
"""What scores differ by that were written down and read again."""


@dataclass(frozen=True)
class Corrections:
    """What a gradebook has beside the automatic scores, and what that was entered over.

    Args:
        by_hand: what a person entered, by student and exercise.
        penalties: points taken off for lateness, by student and assignment.
        late: whose work came late, by student and assignment, also where that costs nothing.
        automatic: the automatic scores there, of what a person graded and of late work; None: not graded.
        outdated: where the automatic score has changed since a person entered one.
        worth: what exercises are worth there that are worth something else now.
        elsewhere: what was entered in assignments that set something else now; it counts nowhere.
        redated: assignments that were due at another time when lateness was reckoned.
        gradebook: its name.
    """

    by_hand: Mapping[tuple[str, str], ByHand] = field(default_factory=dict)
    penalties: Mapping[tuple[str, str], float] = field(default_factory=dict)
    late: Collection[tuple[str, str]] = ()
    automatic: Mapping[tuple[str, str], float | None] = field(default_factory=dict)
    outdated: Collection[tuple[str, str]] = ()
    worth: Mapping[str, float] = field(default_factory=dict)
    elsewhere: Collection[str] = ()
    redated: Collection[str] = ()
    gradebook: str = ""

    def called(self, name: Callable[[str], str]) -> "Corrections":
        """The same under other names of students; of whom two names become one, what that one has counts."""

        def renamed(rows: Mapping[tuple[str, str], _T]) -> dict[tuple[str, str], _T]:
            own_last = sorted(rows, key=lambda key: name(key[0]) == key[0])
            return {(name(who), of): rows[who, of] for who, of in own_last}

        return replace(
            self,
            by_hand=renamed(self.by_hand),
            penalties=renamed(self.penalties),
            late={(name(who), of) for who, of in self.late},
            automatic=renamed(self.automatic),
            outdated={(name(who), of) for who, of in self.outdated},
        )

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

    @property
    def to_look_at(self) -> list[str]:
        """Whose score by hand a person should look at again, and what it was entered over another of."""
        return [
            f"{student} {slug}, {_both(self.by_hand[student, slug], self.automatic.get((student, slug)))}"
            for student, slug in sorted(self.outdated)
        ]

    def is_of_another(self, key: tuple[str, str], judged: ExerciseRecord) -> bool:
        """Whether the gradebook's automatic score is another one than the record's."""
        there, here = self.automatic.get(key), None if judged.needs_manual_grade else judged.score
        if there is None or here is None:
            return there is not here
        return abs(there - here) > _SAME


NONE = Corrections()


def corrected(record: StudentRecord, corrections: Corrections, catalog: Catalog) -> StudentRecord:
    """The record with a person's scores instead of ours, extra credit on top, comments, and penalties.

    A penalty takes no more than what the assignment has earned.
    """
    exercises = {
        slug: _corrected(judged, corrections, (record.student, slug))
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


def _corrected(judged: ExerciseRecord, corrections: Corrections, key: tuple[str, str]) -> ExerciseRecord:
    by_hand = corrections.by_hand.get(key)
    if by_hand is None:
        return judged
    is_other = key in corrections.automatic and corrections.is_of_another(key, judged)
    if by_hand.score is not None and (key in corrections.outdated or is_other):
        now = None if judged.needs_manual_grade else judged.score
        by_hand = replace(by_hand, outdated=_both(by_hand, now))
    noted = replace(judged, by_hand=by_hand)
    if noted.needs_manual_grade:
        return noted
    score = judged.score if by_hand.score is None else by_hand.score
    return replace(noted, score=round(score + by_hand.extra_credit, 4))


def _both(by_hand: ByHand, now: float | None) -> str:
    automatic = "not graded automatically now" if now is None else f"{now:.4g} automatically now"
    return f"{by_hand.score or 0:.4g} by hand, {automatic}"


def to_look_at(records: Iterable[StudentRecord]) -> list[str]:
    """The same of records that were corrected."""
    return [
        f"{record.student} {slug}, {exercise.by_hand.outdated}"
        for record in records
        for slug, exercise in record.exercises.items()
        if exercise.by_hand and exercise.by_hand.outdated
    ]


def expect_current(records: Iterable[StudentRecord], corrections: Corrections, catalog: Catalog) -> None:
    """See to it that corrections are of these records, which have what judging gave and today's points.

    Raises:
        KataError: points have changed below scores by hand or penalties, or penalties are those of other
            scores. What a person entered over another automatic score is no reason.
    """
    there = f"the gradebook {corrections.gradebook}"
    advice = f"`kata grade` with --gradebook {corrections.gradebook} first, or do without: --gradebook none"
    assignments = {exercise.slug: exercise.assignment for exercise in catalog.exercises}
    for record in records:
        for slug, judged in record.exercises.items():
            key, assignment = (record.student, slug), assignments.get(slug, "")
            is_late = (record.student, assignment) in corrections.late
            entered = corrections.by_hand.get(key, ByHand())
            is_corrected = entered.score is not None or entered.extra_credit != 0 or is_late
            if slug in corrections.worth and is_corrected:
                raise KataError(
                    f"{slug} is worth {judged.points:g} now, and {corrections.worth[slug]:g} in {there}, "
                    f"where {record.student} has a score by hand or was late: {advice}"
                )
            if is_late and corrections.is_of_another(key, judged):
                raise KataError(
                    f"{record.student} was late with {assignment}, and what that costs was reckoned in "
                    f"{there} with another score of {slug} than results have: {advice}"
                )


def _count(n: int, one: str, more: str) -> str:
    return f"{n} {one if n == 1 else more}" if n else ""
