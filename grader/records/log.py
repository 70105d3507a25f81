"""The grading log: what became of whose score, and why, a line for each change, among the results."""

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.roster import NOBODY, Roster
from grader.records.corrections import Corrections
from grader.records.records import ExerciseRecord, StudentRecord

FILE = ".log.jsonl"

Way = Literal["up", "down", "first", "person", "judged", "points", "same", "by hand"]

_SAME = 1e-6


@dataclass(frozen=True)
class Grade:
    """What somebody has of an exercise; no score where nothing was judged."""

    status: str
    score: float | None
    points: float = 0.0

    @property
    def share(self) -> float:
        return (self.score or 0.0) / self.points if self.points else (self.score or 0.0)

    @classmethod
    def of(cls, record: ExerciseRecord) -> "Grade":
        return cls(record.status, None if record.needs_manual_grade else record.score, record.points)


@dataclass(frozen=True)
class Change:
    """What one exercise of a student was, and is now; or what a person or lateness did to it.

    `exercise` is a slug, or for a late penalty the assignment. `why` names what the verdict depends on and
    what is not as it was.
    """

    when: str
    student: str
    exercise: str
    before: Grade | None
    after: Grade | None
    why: tuple[str, ...]

    @property
    def entered(self) -> str:
        """What kind of correction it is; nothing where something was judged."""
        return self.why[0] if self.why[0] in _ENTERED else ""

    @property
    def way(self) -> Way:
        """Which way the score went."""
        if self.entered:
            return "by hand"
        assert self.after is not None  # what was judged once is something ever after
        was_judged = self.before is not None and self.before.score is not None
        if self.after.score is None:
            return "person" if was_judged or self._is_first else "same"
        if self.before is None or self._is_first:
            return "first"
        if self.before.score is None:
            return "judged"
        if abs(self.after.share - self.before.share) <= _SAME:
            return "same" if self.after.points == self.before.points else "points"
        return "up" if self.after.share > self.before.share else "down"

    @property
    def _is_first(self) -> bool:
        return self.before is None or self.before.status == "todo"

    def is_like(self, other: "Change | None") -> bool:
        """Whether it is the same at another time."""
        return other is not None and replace(other, when=self.when) == self

    def to_json(self) -> dict[str, Any]:
        before, after = (grade and vars(grade) for grade in (self.before, self.after))
        told = {"when": self.when, "student": self.student, "exercise": self.exercise}
        return {**told, "from": before, "to": after, "why": list(self.why)}

    @classmethod
    def from_json(cls, data: Any) -> "Change":
        """Raises TypeError or LookupError where the data is no change."""
        before, after = (None if one is None else Grade(**one) for one in (data["from"], data["to"]))
        when, student, exercise = (str(data[key]) for key in ("when", "student", "exercise"))
        why = (str(data["why"][0]), *map(str, data["why"][1:]))
        change = cls(when, student, exercise, before, after, why)
        if after is None and not change.entered:
            raise LookupError("to")
        return change


_SCORES = ("by hand", "extra credit")
_ENTERED = (*_SCORES, "late penalty")
"""What comes from a gradebook, not from judging."""
_WORDS: dict[Way, str] = {
    "up": "up",
    "down": "down",
    "first": "judged for the first time",
    "person": "to be graded by hand now",
    "judged": "that could not be judged before",
    "points": "on other points",
    "by hand": "by hand or for lateness",
}


def summary(changes: Iterable[Change]) -> str:
    """`12 up, 8 down`; nothing where no score changed."""
    counts = Counter(change.way for change in changes)
    return ", ".join(f"{counts[way]} {words}" for way, words in _WORDS.items() if counts[way])


def reckoned_before(changes: Iterable[Change], corrections: Corrections, catalog: Catalog) -> list[str]:
    """Whose lateness was reckoned before a person changed scores: `ada week1`.

    A run takes what it finds in a gradebook into the log, and reckons with it. Without a log nobody knows.
    """
    noted = [*changes]
    last = {(c.student, c.exercise, c.entered): c.after for c in noted if c.entered in _SCORES}
    then = {key: grade.score for key, grade in last.items() if grade}
    now = {key: score for key, score in _entered(corrections).items() if key[2] in _SCORES}
    assignments = {exercise.slug: exercise.assignment for exercise in catalog.exercises}
    other = {key for key in then.keys() | now.keys() if then.get(key) != now.get(key)}
    touched = {(student, assignments.get(slug, "")) for student, slug, _ in other}
    return [" ".join(key) for key in sorted(touched & {*corrections.late})] if noted else []


class Log:
    """What changes in a run into the folder `results`."""

    def __init__(self, results: Path, roster: Roster = NOBODY) -> None:
        self._results = results
        self._roster = roster
        self._when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self.changes: list[Change] = []
        self._kept = 0

    def judged(self, earlier: StudentRecord | None, later: StudentRecord) -> None:
        """Note what a student's verdicts were, and are. What nobody handed in is no verdict."""
        known = earlier.exercises if earlier and earlier.student == later.student else {}
        for slug, now in later.exercises.items():
            record = known.get(slug)
            before, after = Grade.of(record) if record else None, Grade.of(now)
            is_new = before is None or before.status == "todo"
            if after != before and not (is_new and after.status == "todo"):
                why = _why(record, now)
                self.changes.append(Change(self._when, later.student, slug, before, after, why))

    def entered(self, corrections: Corrections) -> None:
        """Note what a gradebook has otherwise than when a run looked last."""
        last = {
            (c.student, c.exercise, c.entered): c.after
            for c in read(self._results, self._roster)
            if c.entered
        }
        now = {key: Grade(key[2], score) for key, score in _entered(corrections).items()}
        for key in [*now, *(key for key in last if key not in now)]:
            before, after = last.get(key), now.get(key)
            if before != after:
                self.changes.append(Change(self._when, *key[:2], before, after, key[2:]))

    def keep(self) -> None:
        """Append it to the log, but for what a run that was killed has appended already.

        Raises:
            KataError: the log cannot be written.
        """
        new = self.changes[self._kept :]
        if not new:
            return
        last = {(c.student, c.exercise, c.entered): c for c in read(self._results, self._roster)}
        unknown = [c for c in new if not c.is_like(last.get((c.student, c.exercise, c.entered)))]
        text = "".join(f"{json.dumps(change.to_json())}\n" for change in unknown)
        file = self._results / FILE
        try:
            with file.open("a+b") as stream:
                if stream.tell():
                    stream.seek(-1, os.SEEK_END)
                    stream.write(b"" if stream.read() == b"\n" else b"\n")
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise KataError(
                f"cannot write {paths.shown(file)}: {error.strerror}; mend that and run again"
            ) from None
        self._kept = len(self.changes)


def read(results: Path, roster: Roster = NOBODY) -> list[Change]:
    """All that is in the log, the oldest first, with students called as the roster calls them now.

    A line that was cut is left out.
    """
    found = []
    try:
        lines = (results / FILE).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    for line in lines:
        try:
            change = Change.from_json(json.loads(line))
            found.append(replace(change, student=roster.id_of(change.student)))
        except (ValueError, TypeError, LookupError):
            continue
    return found


def _why(before: ExerciseRecord | None, after: ExerciseRecord) -> tuple[str, ...]:
    """What the two verdicts depend on and differ in."""
    if before is None:
        return ("first judged",)
    was_judged = bool(before.checks) or before.status == "grader_fault"
    if was_judged and not before.digests:
        return ("unknown: graded before there was a log",)
    old, new = before.digests, after.digests
    why = [name for name in new if name in old and old[name] != new[name]]
    if ("answer" in old) != ("answer" in new):
        why.insert(0, "answer")
    why += ["points"] if before.points != after.points else []
    return tuple(why) or ("judged again",)


def _entered(corrections: Corrections) -> dict[tuple[str, str, str], float]:
    """What a gradebook has beside the automatic scores, by student, exercise or assignment, and kind."""
    found: dict[tuple[str, str, str], float] = {}
    for (student, slug), one in corrections.by_hand.items():
        if one.score is not None:
            found[student, slug, "by hand"] = one.score
        if one.extra_credit:
            found[student, slug, "extra credit"] = one.extra_credit
    late = {(*key, "late penalty"): points for key, points in corrections.penalties.items()}
    return found | late
