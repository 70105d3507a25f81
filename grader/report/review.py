"""What to look at in a class's results: verdicts that want a person, and checks that many fail."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from grader.course.catalog import Exercise
from grader.records.records import ExerciseRecord, Status, StudentRecord
from grader.report.words import MARKS, percent

MOST_FAILED = 15
MOST_NAMED = 12
_REVIEWED: tuple[Status, ...] = (
    *("tampered", "crashed", "memory", "timeout", "broken"),
    *("grader_fault", "not_graded"),
)
_MANUAL = "needs a grade by hand"


@dataclass(frozen=True)
class Failed:
    slug: str
    title: str
    failed: int
    judged: int
    share: int
    likely: str
    likely_count: int


@dataclass(frozen=True)
class Flag:
    what: str
    where: str
    why: str
    students: list[tuple[str, str]]
    more: int


def failed(records: Sequence[StudentRecord], exercises: Sequence[Exercise]) -> list[Failed]:
    """The checks failed by most students, of those who wrote something that could be judged."""
    judged: Counter[tuple[str, str]] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    causes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    place = {e.slug: i for i, e in enumerate(exercises)}
    for record in records:
        for slug, exercise in record.exercises.items():
            if slug not in place or exercise.status not in ("passed", "works", "partial", "failed"):
                continue
            outcomes: dict[str, set[str]] = defaultdict(set)
            for check in exercise.checks:
                outcomes[check.title or check.id].add(check.outcome)
            for title, seen in outcomes.items():
                judged[slug, title] += bool(seen & {"passed", "failed"})
                missed[slug, title] += "failed" in seen
            told = {(c.title or c.id, c.told.likely) for c in exercise.checks if c.told and c.told.likely}
            for title, cause in told:
                causes[slug, title][cause] += 1
    order = sorted(
        (key for key, n in missed.items() if n),
        key=lambda key: (-missed[key], -missed[key] / judged[key], place[key[0]], key[1]),
    )
    rows = []
    for key in order[:MOST_FAILED]:
        cause, count = max(causes[key].items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))
        share = percent(missed[key] / judged[key])
        rows.append(Failed(*key, missed[key], judged[key], share, cause, count))
    return rows


def flags(
    records: Sequence[StudentRecord], exercises: Sequence[Exercise], links: dict[str, str]
) -> list[Flag]:
    """What an instructor should look at, the gravest first; what several share is one flag."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for status in _REVIEWED:
        for exercise in exercises:
            for record in records:
                judged = record.exercises.get(exercise.slug)
                if judged is not None and judged.status == status and not judged.is_graded_by_hand:
                    why = "; ".join(judged.flags) or _first_reason(judged)
                    what = _MANUAL if status == "not_graded" else MARKS[status][1]
                    found.setdefault((what, exercise.slug, why), []).append(record.student)
    for record in records:
        for slug, judged in record.exercises.items():
            if judged.status not in _REVIEWED and judged.flags:
                key = ("flagged", slug, "; ".join(judged.flags))
                found.setdefault(key, []).append(record.student)
        for note in record.notes:
            found.setdefault(("submission", "", note), []).append(record.student)
    return [
        Flag(*key, [(s, links[s]) for s in students[:MOST_NAMED]], max(0, len(students) - MOST_NAMED))
        for key, students in found.items()
    ]


def _first_reason(judged: ExerciseRecord) -> str:
    return next((c.message for c in judged.checks if c.outcome == "not_graded" and c.message), "")
