"""One student's page, as plain data: what was judged, what came, what to try next."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from grader.classroom.report.bugs import OwnBug, of_student
from grader.classroom.report.words import FeedbackPart, advice, by_hand, number, parts, percent
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.protocol.statuses import GRADES, SOLVED, STATUSES, Status
from grader.records.records import OUTCOMES, CheckRecord, ExerciseRecord, StudentRecord


@dataclass(frozen=True)
class CheckGroup:
    """All checks of one sentence: a test that runs on several inputs says the same each time."""

    title: str
    fine: bool
    mark: str
    word: str
    kind: str
    count: str
    parts: list[FeedbackPart]

    @property
    def blocks(self) -> list[tuple[bool, list[FeedbackPart]]]:
        """The feedback as runs of facts and runs of lines."""
        return [(named, list(run)) for named, run in groupby(self.parts, lambda part: part.name != "")]


@dataclass(frozen=True)
class JudgedExercise:
    """One exercise on the page."""

    slug: str
    title: str
    file: str
    status: Status
    mark: str
    word: str
    score: str
    points: str
    advice: str
    by_hand: str
    comment: str
    flags: tuple[str, ...]
    bugs: list[OwnBug]
    checks: list[CheckGroup]
    hints: tuple[str, ...]
    reading: str

    @property
    def is_shown(self) -> bool:
        return self.status != "todo" or bool(self.checks or self.by_hand or self.comment)

    @property
    def open_checks(self) -> list[CheckGroup]:
        """Those that somebody should read about."""
        return [check for check in self.checks if check.kind != "passed" and check not in self.silent]

    @property
    def silent(self) -> list[CheckGroup]:
        """Those that did not run, and there is nothing more to say."""
        return [check for check in self.checks if check.kind == "missing" and not check.parts]

    @property
    def passed(self) -> list[CheckGroup]:
        return [check for check in self.checks if check.kind == "passed"]


@dataclass(frozen=True)
class Missed:
    """A step that is not done: what it is called, where it lies, what became of it, and why in a line."""

    slug: str
    title: str
    file: str
    word: str
    why: str


@dataclass(frozen=True)
class StepsDone:
    """First steps in short: how many are done, and which fail. Those nobody wrote are neither."""

    done: int
    total: int
    missed: list[Missed]


@dataclass(frozen=True)
class PageSection:
    """A section's exercises on the page."""

    title: str
    score: str
    points: str
    exercises: list[JudgedExercise]
    steps: StepsDone | None

    @property
    def shown(self) -> list[JudgedExercise]:
        """Those that there is something to say about."""
        return [e for e in self.exercises if e.is_shown]


@dataclass(frozen=True)
class StudentPage:
    student: str
    score: str
    points: str
    share: int
    late: list[tuple[str, str]]
    counts: list[tuple[str, str, int]]
    notes: tuple[str, ...]
    sections: list[PageSection]

    @property
    def is_of_suite(self) -> bool:
        """Whether files of tests were judged, not exercises, which have a file of the student's."""
        return not any(exercise.file for section in self.sections for exercise in section.exercises)


def page(record: StudentRecord, catalog: Catalog) -> StudentPage:
    """Everything that a student's page shows. Holds nothing of other students or of the suites' code."""
    sections = []
    for title, exercises in grouped(record.exercises, catalog):
        held = [record.exercises[e.slug] for e in exercises]
        score, points = total(held)
        judged = [_judged(e, record.exercises[e.slug]) for e in exercises if not e.is_step]
        sections.append(PageSection(title, number(score), number(points), judged, steps(record, exercises)))
    is_step = {e.slug for e in catalog.exercises if e.is_step}
    counts = [
        (STATUSES[status].mark, STATUSES[status].words, n)
        for status in GRADES
        if (n := sum(e.status == status for slug, e in record.exercises.items() if slug not in is_step))
    ]
    return StudentPage(
        record.student,
        number(record.score),
        number(record.points),
        _share(record.score, record.points),
        [(name, number(points)) for name, points in record.penalties.items()],
        counts,
        record.notes,
        sections,
    )


def grouped(slugs: Iterable[str], catalog: Catalog) -> list[tuple[str, list[Exercise]]]:
    """The exercises by section, in the catalog's order; what the catalog does not have comes last."""
    wanted = list(slugs)
    found = [
        (section.title, [e for e in section.exercises if e.slug in wanted]) for section in catalog.sections
    ]
    known = {e.slug for e in catalog.exercises}
    strangers = [
        Exercise(slug, "", 0, slug, "build", "core", 0, 1, (), (), (), "")
        for slug in wanted
        if slug not in known
    ]
    return [(title, held) for title, held in [*found, ("No longer in the catalog", strangers)] if held]


def steps(record: StudentRecord, exercises: Iterable[Exercise]) -> StepsDone | None:
    """The steps among these exercises; None where the student left out what weighs nothing."""
    held = [(e, record.exercises[e.slug]) for e in exercises if e.is_step and e.slug in record.exercises]
    judged = [(e, r) for e, r in held if not r.needs_manual_grade]
    if all(r.status == "todo" and not r.points for _, r in judged):
        return None
    missed = [_missed(e, r) for e, r in judged if r.status not in SOLVED | {"todo"}]
    return StepsDone(sum(r.status in SOLVED for _, r in judged), len(judged), missed)


def _missed(exercise: Exercise, record: ExerciseRecord) -> Missed:
    told = next((check.reason for check in record.missed if check.outcome == "failed" and check.reason), None)
    why = (told.likely or told.headline) if told else "; ".join(record.flags)
    return Missed(exercise.slug, exercise.title, exercise.relative, STATUSES[record.status].words, why)


def total(records: Iterable[ExerciseRecord]) -> tuple[float, float]:
    """What was earned and what could be: exercises that were not judged count for neither."""
    judged = [r for r in records if not r.needs_manual_grade]
    return sum(r.score for r in judged), sum(r.points for r in judged)


def _share(score: float, points: float) -> int:
    return min(100, percent(score / points)) if points > 0 else 0


def _judged(exercise: Exercise, record: ExerciseRecord) -> JudgedExercise:
    mark, word, _ = STATUSES[record.status]
    unsolved = record.status not in ("passed", "not_graded", "grader_fault")
    return JudgedExercise(
        exercise.slug,
        exercise.title,
        f"{exercise.relative}" if exercise.section else "",
        record.status,
        mark,
        word,
        "–" if record.needs_manual_grade else number(record.score),
        number(record.points),
        advice(record),
        by_hand(record),
        record.by_hand.comment if record.by_hand else "",
        record.flags,
        of_student(exercise, record),
        [_check(same) for same in _by_title(_in_order(record))],
        exercise.hints if unsolved else (),
        exercise.reading if exercise.reading.startswith("https://") else "",
    )


def _in_order(record: ExerciseRecord) -> list[CheckRecord]:
    """What did not pass, in the order in which it is told, and then the others, those of the job first."""
    others = [check for check in record.checks if check.outcome in ("passed", "not_graded")]
    return [*record.missed, *sorted(others, key=lambda check: check.fine)]


def _by_title(checks: Iterable[CheckRecord]) -> list[list[CheckRecord]]:
    found: dict[tuple[bool, str], list[CheckRecord]] = {}
    for check in checks:
        found.setdefault((check.fine, check.title or check.id.split("::")[-1]), []).append(check)
    return list(found.values())


def _check(same: list[CheckRecord]) -> CheckGroup:
    """The worst outcome of the checks, and the feedback of the first that had it."""
    worst = min((check.outcome for check in same), key=OUTCOMES.index)
    mark, word, _ = STATUSES[worst]
    hit = [check for check in same if check.outcome == worst]
    told = next((check.reason for check in hit if check.reason), None)
    count = f"on {len(hit)} of {len(same)} inputs" if worst != "passed" and len(same) > 1 else ""
    title = same[0].title or same[0].id.split("::")[-1]
    return CheckGroup(title, same[0].fine, mark, word, worst, count, parts(told) if told else [])
