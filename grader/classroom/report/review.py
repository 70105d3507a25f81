"""What to look at in a class's results: verdicts that want a person, and checks that many fail."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.classroom.report.words import percent
from grader.course.exercise import Exercise
from grader.protocol.statuses import ENDED, SCORED, STATUSES, Status
from grader.records.records import ExerciseRecord, StudentRecord

MOST_FAILED = 15
SHARED_BY = 5
"""What more students have, a tenth of the class at least, is the matter of the exercise."""
_REVIEWED: tuple[Status, ...] = (*ENDED, "grader_fault", "not_graded")


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
class Reason:
    """Why to look, and at which exercises; at none where it is about the submission."""

    what: str
    slugs: list[str]
    why: str


@dataclass(frozen=True)
class ToReview:
    """A student, and why to look at their work, the most urgent first."""

    student: str
    link: str
    reasons: list[Reason]


@dataclass(frozen=True)
class Shared:
    """A reason that many share, and so the exercise's matter rather than theirs."""

    what: str
    slug: str
    why: str
    students: list[tuple[str, str]]


@dataclass(frozen=True)
class Review:
    """What an instructor should look at: first what many share, then student by student."""

    shared: list[Shared]
    students: list[ToReview]

    @property
    def count(self) -> int:
        return len(self.shared) + sum(len(r.slugs) or 1 for one in self.students for r in one.reasons)


def failed(records: Sequence[StudentRecord], exercises: Sequence[Exercise]) -> list[Failed]:
    """The checks failed by most students, of those who wrote something that could be judged."""
    judged: Counter[tuple[str, str]] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    causes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    place = {e.slug: i for i, e in enumerate(exercises)}
    for record in records:
        for slug, exercise in record.exercises.items():
            if slug not in place or exercise.status not in SCORED:
                continue
            outcomes: dict[str, set[str]] = defaultdict(set)
            for check in exercise.checks:
                outcomes[check.title or check.id].add(check.outcome)
            for title, seen in outcomes.items():
                judged[slug, title] += bool(seen & {"passed", "failed"})
                missed[slug, title] += "failed" in seen
            told = {
                (c.title or c.id, c.reason.likely) for c in exercise.checks if c.reason and c.reason.likely
            }
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


def review(records: Sequence[StudentRecord], exercises: Sequence[Exercise], links: dict[str, str]) -> Review:
    """What wants a person. Students with the gravest reason come first, of these those with the most."""
    found = {record.student: [*_noted(record, exercises)] for record in records}
    having: dict[_Note, list[str]] = defaultdict(list)
    for student, notes in found.items():
        for note in notes:
            having[note].append(student)
    many = max(SHARED_BY, len(records) / 10)
    shared = sorted((note for note, students in having.items() if len(students) > many), key=_urgency)
    own = {student: [n for n in notes if len(having[n]) <= many] for student, notes in found.items()}
    order = sorted((s for s in own if own[s]), key=lambda s: (_urgency(own[s][0]), -len(own[s]), s))
    return Review(
        [Shared(*note, [(student, links[student]) for student in having[note]]) for note in shared],
        [ToReview(student, links[student], _reasons(own[student])) for student in order],
    )


_Note = tuple[str, str, str]
"""What is the matter, the exercise's slug or nothing, and why."""


def _noted(record: StudentRecord, exercises: Sequence[Exercise]) -> Iterator[_Note]:
    """The notes on a student's work, the most urgent first."""
    judged = [(e.slug, record.exercises[e.slug]) for e in exercises if e.slug in record.exercises]
    for status in _REVIEWED:
        for slug, answer in judged:
            if answer.status == status and not answer.is_graded_by_hand:
                yield _words(status), slug, "; ".join(answer.flags) or _first_reason(answer)
    for slug, answer in judged:
        if answer.by_hand and answer.by_hand.outdated:
            yield _OUTDATED, slug, answer.by_hand.outdated
    for slug, answer in judged:
        if answer.status not in _REVIEWED and answer.flags:
            yield _FLAGGED, slug, "; ".join(answer.flags)
    for note in record.notes:
        yield _SUBMISSION, "", note


def _reasons(notes: Sequence[_Note]) -> list[Reason]:
    slugs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for what, slug, why in notes:
        slugs[what, why] += [slug] if slug else []
    return [Reason(what, held, why) for (what, why), held in slugs.items()]


def _words(status: Status) -> str:
    return "needs a grade by hand" if status == "not_graded" else STATUSES[status].words


_FLAGGED, _SUBMISSION = "flagged", "submission"
_OUTDATED = "graded by hand, and judged anew since"
_ORDER = [*map(_words, _REVIEWED), _OUTDATED, _FLAGGED, _SUBMISSION]


def _urgency(note: _Note) -> int:
    return _ORDER.index(note[0])


def _first_reason(judged: ExerciseRecord) -> str:
    """Why nothing could be judged, where the checks say so."""
    if judged.status != "not_graded":
        return ""
    return next((c.message for c in judged.checks if c.outcome == "not_graded" and c.message), "")
