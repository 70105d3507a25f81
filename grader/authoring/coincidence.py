"""Wrong answers that a worked example lets through by the choice of its numbers.

What most fresh inputs show, an example can show. What they do not show either, a loop or a leak, what an
answer costs or leaves behind, is no matter of numbers; nor is what fails otherwise than by a value.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from grader.engine.pool import Pool
from grader.learner.outcome import Lesson
from grader.protocol.check import CheckSpec
from grader.protocol.job import Job
from grader.protocol.transcript import Transcript
from grader.verdict.oracle_match import compared

BY_VALUE = ("values", "pattern")
"""Kinds of feedback on two values that differ."""


def is_let_through(expected: Iterable[CheckSpec], transcript: Transcript, lesson: Lesson) -> bool:
    """Whether all public checks pass, and what fails first is a value."""
    public = [spec for spec in expected if spec.id.startswith("public::") and not spec.lacks]
    passes = bool(public) and all(transcript.of(spec).outcome == "passed" for spec in public)
    return passes and any(failure.feedback.kind in BY_VALUE for failure in lesson.failures[:1])


def refused(pool: Pool, jobs: Sequence[Job]) -> list[str]:
    """For each of these answers how many fresh inputs refuse it, "4 of 5"; "" where not most of them do."""
    found: dict[int, str] = {}
    wanted: dict[str, Any] = {}
    asked = [replace(job, mode="oracle") for job in jobs]
    for job, transcript in pool.judge(asked):
        if job.slug not in wanted:
            solution = replace(job, answer=job.exercise.content("solutions"))
            wanted[job.slug] = pool.reference(solution).oracle
        cases = compared(transcript.oracle, wanted[job.slug]) if wanted[job.slug] else {}
        failed = sum(bool(told) for told in cases.values())
        found[id(job)] = f"{failed} of {len(cases)}" if 2 * failed > len(cases) else ""
    return [found[id(job)] for job in asked]
