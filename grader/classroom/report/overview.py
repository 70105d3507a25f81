"""The class's page, as plain data: who got how far, what is hard, what to look at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.classroom.report import statistics
from grader.classroom.report.bugs import CapstoneBugs, of_class
from grader.classroom.report.review import Failed, Review, Shared, failed, review
from grader.classroom.report.student import StepsDone, grouped, steps, total
from grader.classroom.report.words import number, percent
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.protocol.statuses import SCORED, STATUSES
from grader.records.records import ExerciseRecord, StudentRecord


@dataclass(frozen=True)
class Square:
    """A square of the heat map: a share of the points, or a sign where there is none."""

    text: str
    word: str = ""
    share: int | None = None
    kind: str = ""


@dataclass(frozen=True)
class StudentRow:
    student: str
    link: str
    total: Square
    cells: list[Square]


@dataclass(frozen=True)
class Heat:
    """Students by columns: sections at first, then the exercises of each."""

    id: str
    title: str
    columns: list[tuple[str, str]]
    rows: list[StudentRow]


@dataclass(frozen=True)
class ItemRow:
    slug: str
    title: str
    points: str
    judged: int
    done: int
    difficulty: float | None
    discrimination: float | None
    verdict: str


@dataclass(frozen=True)
class StepRow:
    """What a student did of the first steps."""

    student: str
    link: str
    steps: StepsDone


@dataclass(frozen=True)
class ClassPage:
    students: int
    exercises: int
    mean: str
    median: str
    points: str
    bins: list[int]
    review: Review
    heats: list[Heat]
    items: list[ItemRow]
    failed: list[Failed]
    bugs: list[CapstoneBugs]
    steps: list[StepRow]


def page(records: Sequence[StudentRecord], catalog: Catalog, links: dict[str, str]) -> ClassPage:
    """Everything that the class's page shows. `links` has the address of each student's page."""
    slugs = {slug: None for record in records for slug in record.exercises}
    groups = grouped(slugs, catalog)
    every = [e for _, held in groups for e in held]
    exercises = [e for e in every if not (e.is_step or e.is_extra)]
    rows = sorted(records, key=lambda r: (-_share((r.score, r.points)), r.student))
    shares = [r.score / r.points for r in records if r.points > 0]
    items = _items(records, exercises)
    points = max((r.points for r in records), default=0.0)
    found = review(records, every, links)
    mean, median = statistics.mean(shares), statistics.median(shares)
    return ClassPage(
        len(records),
        len(exercises),
        "" if mean is None else f"{percent(mean)} %",
        "" if median is None else f"{percent(median)} %",
        number(points),
        statistics.histogram(shares),
        replace(found, shared=[*found.shared, *_against_the_rest(items)]),
        _heats(rows, groups, links),
        items,
        failed(records, exercises),
        of_class(records, every),
        [StepRow(r.student, links[r.student], done) for r in rows if (done := steps(r, every))],
    )


def _share(earned: tuple[float, float]) -> float:
    score, points = earned
    return score / points if points > 0 else 0.0


def _heats(
    rows: Sequence[StudentRecord], groups: list[tuple[str, list[Exercise]]], links: dict[str, str]
) -> list[Heat]:
    found = []
    groups = [(title, held) for title, held in groups if not all(e.is_extra for e in held)]
    if len(groups) > 1:
        sections = [
            StudentRow(r.student, links[r.student], _sum(r, None), [_sum(r, held) for _, held in groups])
            for r in rows
        ]
        found.append(Heat("all", "All sections", [(title, "") for title, _ in groups], sections))
    for number_, (title, held) in enumerate(groups, start=1):
        shown = [e for e in held if not (e.is_step or e.is_extra)]
        columns = [(e.slug, f"item-{e.slug}") for e in shown]
        students = [
            StudentRow(
                r.student, links[r.student], _sum(r, held), [_cell(r.exercises.get(e.slug)) for e in shown]
            )
            for r in rows
        ]
        found.append(Heat(f"part-{number_}", title, columns, students))
    return found


def _sum(record: StudentRecord, exercises: list[Exercise] | None) -> Square:
    score, points = record.score, record.points
    if exercises is not None:
        score, points = total(record.exercises[e.slug] for e in exercises if e.slug in record.exercises)
    if points <= 0:
        return Square("?", "not graded", kind="none")
    share = percent(score / points)
    return Square(str(share), share=min(100, share))


def _cell(record: ExerciseRecord | None) -> Square:
    if record is None:
        return Square("", "not set", kind="none")
    mark, word, _ = STATUSES[record.status]
    is_scored = record.is_graded_by_hand or record.status in SCORED
    if is_scored and record.points > 0:
        share = percent(record.score / record.points)
        return Square(str(share), share=min(100, share))
    return Square(mark, word, kind="odd" if mark == "!" else "none")


def _items(records: Sequence[StudentRecord], exercises: Sequence[Exercise]) -> list[ItemRow]:
    held = [[record.exercises.get(e.slug) for e in exercises] for record in records]
    scores = np.array(
        [[np.nan if r is None or r.needs_manual_grade else r.score for r in row] for row in held],
        dtype=np.float64,
    ).reshape(len(records), len(exercises))
    worth = [
        next((row[i].points for row in held if row[i] is not None), 0.0)  # type: ignore[union-attr]
        for i in range(len(exercises))
    ]
    rows = []
    for column, (exercise, item) in enumerate(zip(exercises, statistics.items(scores, worth), strict=True)):
        judged = [r for row in held if (r := row[column]) is not None and not r.needs_manual_grade]
        rows.append(
            ItemRow(
                exercise.slug,
                exercise.title,
                number(worth[column]),
                item.judged,
                sum(r.status != "todo" for r in judged),
                item.difficulty,
                item.discrimination,
                _verdict(item.discrimination),
            )
        )
    return rows


def _verdict(discrimination: float | None) -> str:
    """In words, by the bounds of R. Ebel and D. Frisbie, Essentials of Educational Measurement (1991)."""
    if discrimination is None:
        return "not defined"
    bounds = ((0.0, "negative"), (0.2, "weak"), (0.4, "fair"))
    return next((word for bound, word in bounds if discrimination < bound), "good")


def _against_the_rest(items: Sequence[ItemRow]) -> list[Shared]:
    return [
        Shared(
            "negative discrimination",
            item.slug,
            f"those good elsewhere do worse here (r = {item.discrimination:.2f}, {item.judged} students)",
            [],
        )
        for item in items
        if item.discrimination is not None and item.discrimination < 0
    ]
