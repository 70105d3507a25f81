"""What judging says: plain records, and the JSON files that hold them."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.core import atomic_write
from grader.core.sanitize import one_line
from grader.protocol.best_first import best_first
from grader.protocol.check import Outcome
from grader.protocol.feedback import Fact, Feedback
from grader.protocol.statuses import Status

SCHEMA = 2

UNVERIFIED = "not verified outside the answer's process"
"""A note on records without an oracle: the checks alone judge, and they run where the answer does."""

OUTCOMES: tuple[Outcome, ...] = ("failed", "missing", "not_graded", "passed")
"""How a check went that is kept, the gravest first."""


@dataclass(frozen=True)
class CheckRecord:
    """One check's verdict. `title` is the sentence a learner reads, `message` the feedback as text.

    A score knows no more than whether it passed: what was still to write or took too long has failed.
    """

    id: str
    title: str
    outcome: Outcome
    message: str = ""
    seconds: float = 0.0
    feedback: Feedback | None = None
    fine: bool = False
    """Whether it is a check of the fine print; else it is one of the job."""

    @property
    def reason(self) -> Feedback | None:
        """Why it did not pass, where that is known; of older records, and of what is no check, the text."""
        if self.feedback or not self.message:
            return self.feedback
        said, _, cause = self.message.partition("\n  likely  ")
        headline, *more = said.split("\n")
        facts = tuple(Fact("", line.removeprefix("  ")) for line in more)
        return Feedback(headline, facts, likely=cause.partition("\n")[0])


@dataclass(frozen=True)
class ByHand:
    """What a person said of an exercise: a score instead of ours, points on top, a comment.

    `outdated` tells of both scores where ours has changed since; else it is empty.
    """

    score: float | None = None
    extra_credit: float = 0.0
    comment: str = ""
    outdated: str = ""

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value or name != "outdated"}


@dataclass(frozen=True)
class ExerciseRecord:
    """One exercise of one student. `flags` holds what an instructor may want to look at.

    `job` and `fine` are the shares of the job and of the fine print that are known to be done, from 0 to 1.
    `against_rules` is what there is more of the job that breaks a rule of the statement: it counts only where
    a course says so. Where `by_hand` is set, `score` has it in it. `digests` tell what was judged, and by
    what, to compare with those of another time. Of a capstone, `bugs` are those that its `variant` was handed
    out with, and whether each was found.
    """

    status: Status
    score: float
    points: float
    checks: tuple[CheckRecord, ...] = ()
    flags: tuple[str, ...] = ()
    job: float = 0.0
    fine: float = 0.0
    against_rules: float = 0.0
    by_hand: ByHand | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    variant: int = 0
    bugs: Mapping[str, bool] = field(default_factory=dict)

    @property
    def missed(self) -> list[CheckRecord]:
        """What did not pass, in the order in which every face tells it."""
        lacking = [check for check in self.checks if check.outcome not in ("passed", "not_graded")]
        order = best_first(lacking, lambda check: (check.fine, check.reason))
        return [replace(check, feedback=told) for check, told in order]

    @property
    def needs_manual_grade(self) -> bool:
        """Nothing was judged, so there is no score to give: neither zero nor full."""
        return self.status in ("not_graded", "grader_fault") and not self.is_graded_by_hand

    @property
    def for_instructor(self) -> tuple[str, ...]:
        """What to look at: flags, and a score by hand that was entered over another of ours."""
        outdated = self.by_hand.outdated if self.by_hand else ""
        return (*self.flags, f"look again: {outdated}") if outdated else self.flags

    @property
    def is_graded_by_hand(self) -> bool:
        return self.by_hand is not None and self.by_hand.score is not None


@dataclass(frozen=True)
class StudentRecord:
    """All of one student's exercises, by slug in the catalog's order.

    `notes` tells what was odd about the submission itself: unknown files, links, bad encoding.
    `penalties` are points taken off for lateness, by assignment.
    """

    student: str
    seed: int
    exercises: dict[str, ExerciseRecord] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    penalties: Mapping[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        earned = sum(e.score for e in self.exercises.values())
        return round(earned - sum(self.penalties.values()), 4)

    @property
    def points(self) -> float:
        """The points that could be earned: exercises that were not judged count for nothing."""
        return round(sum(e.points for e in self.exercises.values() if not e.needs_manual_grade), 4)


def exercise_to_json(record: ExerciseRecord) -> dict[str, Any]:
    """What JSON holds of a record; `exercise_from_json` reads it."""
    data = {**vars(record), "checks": [_check_to_json(check) for check in record.checks]}
    by_hand, digests = data.pop("by_hand"), data.pop("digests")
    variant, bugs = data.pop("variant"), data.pop("bugs")
    if not record.against_rules:
        del data["against_rules"]
    told: dict[str, Any] = {"digests": dict(digests)} if digests else {}
    told |= {"variant": variant, "bugs": dict(bugs)} if bugs else {}
    return data | told | ({} if by_hand is None else {"by_hand": by_hand.to_json()})


def _check_to_json(check: CheckRecord) -> dict[str, Any]:
    return {**vars(check), "feedback": check.feedback and check.feedback.to_json()}


def _check_from_json(data: Any) -> CheckRecord:
    return CheckRecord(**{**data, "feedback": Feedback.from_json(data.get("feedback"))})


def exercise_from_json(data: Any) -> ExerciseRecord:
    """Raises TypeError or KeyError where the data is no record, of this schema or the first one."""
    checks = tuple(map(_check_from_json, data["checks"]))
    flags = tuple(map(one_line, data["flags"]))  # older records hold more than that
    score, points = data["score"], data["points"]
    job = data.get("job", score / points if points else 0.0)  # the first schema told of no fine print
    fine, against_rules = data.get("fine", 1.0), data.get("against_rules", 0.0)
    told = ExerciseRecord(data["status"], score, points, checks, flags, job, fine, against_rules)
    bugs = {str(name): bool(found) for name, found in data.get("bugs", {}).items()}
    digests, variant = dict(data.get("digests", {})), int(data.get("variant", 0))
    return replace(told, digests=digests, variant=variant, bugs=bugs)


def student_to_json(record: StudentRecord) -> dict[str, Any]:
    """What `results/<student>.json` holds."""
    penalties = {"penalties": dict(record.penalties)} if record.penalties else {}
    return {
        "schema": SCHEMA,
        "student": record.student,
        "seed": record.seed,
        "score": record.score,
        "points": record.points,
        "exercises": {slug: exercise_to_json(e) for slug, e in record.exercises.items()},
        "notes": list(record.notes),
        **penalties,
    }


def student_from_json(data: dict[str, Any]) -> StudentRecord:
    exercises = {slug: exercise_from_json(e) for slug, e in data["exercises"].items()}
    return StudentRecord(data["student"], data["seed"], exercises, tuple(data.get("notes", ())))


def read_student(path: Path) -> StudentRecord | None:
    """The record in a file, or None where there is none of this version."""
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema") not in (1, SCHEMA):
        return None
    try:
        record = student_from_json(data)
        held = record.exercises.values()
        numbers = [n for e in held for n in (e.score, e.points, e.job, e.fine, e.against_rules)]
        return record if all(math.isfinite(n) for n in numbers) else None
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def within(record: StudentRecord, slugs: Iterable[str]) -> StudentRecord:
    """What a record has of these exercises, in their order."""
    return replace(record, exercises={s: record.exercises[s] for s in slugs if s in record.exercises})


def rescaled(record: StudentRecord, points: Mapping[str, float]) -> StudentRecord:
    """The record with each known exercise worth what it is worth now, and so all records on one scale."""
    exercises = {slug: _worth(e, points.get(slug, e.points)) for slug, e in record.exercises.items()}
    return replace(record, exercises=exercises)


def _worth(record: ExerciseRecord, points: float) -> ExerciseRecord:
    if points == record.points:
        return record
    share = record.score / record.points if record.points else record.job  # a step that weighed nothing
    return replace(record, score=round(share * points, 4), points=points)


def merged(earlier: StudentRecord | None, later: StudentRecord, known: Mapping[str, float]) -> StudentRecord:
    """The later record, with those of the known exercises that only the earlier one has, in their order.

    `known` holds what exercises are worth now.
    """
    if earlier is None or earlier.student != later.student:
        return later
    both = {**rescaled(earlier, known).exercises, **later.exercises}
    exercises = {slug: both[slug] for slug in known if slug in both} | later.exercises
    kept = exercises.keys() - later.exercises.keys()
    notes = later.notes
    if kept and earlier.seed != later.seed:
        notes += (f"judged in an earlier run, with seed {earlier.seed}: {len(kept)} of the exercises",)
    return replace(later, exercises=exercises, notes=notes)


def files(results: Path) -> list[Path]:
    """The files of records in a folder, in the order of their names; what begins with a dot is none."""
    return sorted(results.glob("[!.]*.json"))


def others(results: Path, records: Iterable[StudentRecord]) -> list[StudentRecord]:
    """The records of a folder beside those given, as of earlier runs."""
    there = {f"{record.student}.json" for record in records}
    read = (read_student(file) for file in files(results) if file.name not in there)
    return [record for record in read if record]


def write_json(path: Path, data: Any, *, durable: bool = True) -> None:
    """Write `data` so that a reader sees the old file or the new one, never a part of it.

    What need not be durable, as it can be made again where a machine stopped too early, is one line of text
    and takes a fraction of the time.
    """
    text = json.dumps(data, ensure_ascii=True, indent=1 if durable else None)
    atomic_write.write(path, f"{text}\n", durable=durable)


def read_json(path: Path) -> Any | None:
    """The file's content, or None where there is none or it was cut short."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
