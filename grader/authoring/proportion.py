"""Wrong answers that do much of a job, and none of the oracle's cases: one mistake spoils them all."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from grader.core.progress_bar import Progress, silent
from grader.course import specimens
from grader.course.exercise import Exercise
from grader.course.specimen import Wrong
from grader.engine.pool import Pool
from grader.protocol.job import Job
from grader.records.records import ExerciseRecord
from grader.verdict.references import References
from grader.verdict.score import ORACLE

MUCH = 0.5
"""Of the checks of the job."""


@dataclass(frozen=True)
class AllOrNothing:
    """A wrong answer, how many of the job's checks pass on it, and how many cases there are."""

    where: str
    about: str
    passed: int
    checks: int
    cases: int

    def __str__(self) -> str:
        done = f"{self.passed} of {self.checks} checks of the job"
        return f"{self.where}: {self.about}: {done}, and none of the {self.cases} cases"


def all_or_nothing(exercises: tuple[Exercise, ...], progress: Progress = silent) -> Iterator[AllOrNothing]:
    """Those that `MUCH` of the job's checks pass on, in the order in which they are judged."""
    about: dict[int, str] = {}
    jobs = []
    for exercise in exercises:
        for kept in specimens.read(exercise.file("specimens")):
            if isinstance(kept, Wrong) and kept.rung == "job":
                jobs.append(Job(exercise, kept.content(exercise), 0))
                about[id(jobs[-1])] = kept.about
    with Pool(exercises, jobs=os.cpu_count() or 1, confined=False) as pool:
        references = References(pool, 0)
        for done, (job, found) in enumerate(pool.judge(jobs), start=1):
            told = _told(job.slug, about[id(job)], references.verdict(job, found))
            if told is not None:
                yield told
            progress(done, len(jobs))


def _told(slug: str, about: str, record: ExerciseRecord) -> AllOrNothing | None:
    judged = [check for check in record.checks if not check.fine and check.outcome != "not_graded"]
    cases = [check for check in judged if check.id.split("::")[0] == ORACLE]
    checks = [check for check in judged if check not in cases]
    passed = sum(check.outcome == "passed" for check in checks)
    if not checks or passed < MUCH * len(checks) or any(case.outcome == "passed" for case in cases):
        return None
    return AllOrNothing(slug, about, passed, len(checks), len(cases))
