"""What trials of an audit came to, kept until something that they depend on changes.

One file an exercise: the address of each trial, and its record. What was not asked for goes with the next
writing, and what led to a problem is never kept: a machine may have been slow.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from grader.core import atomic_write
from grader.course import paths
from grader.course.exercise import Exercise
from grader.protocol.job import Job
from grader.records.records import ExerciseRecord, exercise_from_json, exercise_to_json
from grader.verdict import cache_key


class Memory:
    """The records of earlier audits, and what this one adds; `fresh` knows none of them."""

    def __init__(self, folder: Path = paths.STATE / "audit", *, fresh: bool = False) -> None:
        self._folder = folder
        self._fresh = fresh
        self._old: dict[str, dict[str, Any]] = {}
        self._new: dict[str, dict[str, Any]] = {}

    def record(self, job: Job) -> ExerciseRecord | None:
        """What came of the same trial, if it was kept."""
        try:
            kept = self._known(job.slug).get(_address(job))
            return None if kept is None else exercise_from_json(kept)
        except (TypeError, KeyError, AttributeError):
            return None

    def keep(self, job: Job, record: ExerciseRecord) -> None:
        """To be known another time, unless nothing was judged."""
        if record.status == "grader_fault":
            return
        self._new.setdefault(job.slug, {})[_address(job)] = exercise_to_json(record)

    def is_settled(self, exercise: Exercise) -> bool:
        """Whether its oracle was looked at before, with this solution."""
        return _settled(exercise) in self._known(exercise.slug)

    def settle(self, exercise: Exercise) -> None:
        self._new.setdefault(exercise.slug, {})[_settled(exercise)] = {}

    def write(self) -> None:
        """Write what this audit asked for, exercise by exercise."""
        for slug, kept in self._new.items():
            if kept != self._known(slug):
                atomic_write.write(self._file(slug), json.dumps(kept))

    def _known(self, slug: str) -> dict[str, Any]:
        if slug not in self._old:
            self._old[slug] = {} if self._fresh else _read(self._file(slug))
        return self._old[slug]

    def _file(self, slug: str) -> Path:
        return self._folder / f"{slug}.json"


def _read(file: Path) -> dict[str, Any]:
    """Nothing where the file cannot be read: then its trials are made again."""
    try:
        data = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _address(job: Job) -> str:
    base = cache_key.of(job.exercise, job.answer, job.seed, confined=False)
    return _digest(base, repr((job.mode, job.shuffled, job.only)))


def _settled(exercise: Exercise) -> str:
    return _digest(cache_key.of(exercise, b"", 0, confined=False), "oracle")


def _digest(*parts: str) -> str:
    return hashlib.sha256(
        ":".join((*parts, cache_key.grader_digest("records", "authoring"))).encode()
    ).hexdigest()
