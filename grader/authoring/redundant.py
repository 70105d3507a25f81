"""Which wrong answers tell a suite nothing new: the same checks fail on another, with the same headline."""

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from grader.core.progress_bar import Progress, silent
from grader.course import specimens
from grader.course.exercise import Exercise
from grader.course.specimen import Wrong
from grader.engine.pool import Pool
from grader.protocol.job import Job
from grader.protocol.transcript import Transcript

Signature = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Redundancy:
    """Wrong answers to one exercise, and the checks that fail on each of them with the same headlines."""

    where: str
    about: tuple[str, ...]
    signature: Signature

    def __str__(self) -> str:
        told = "; ".join(f"{check}: {headline}" for check, headline in self.signature) or "no check"
        return "\n".join([f"{self.where}: {told}", *(f"  {about}" for about in self.about)])


def groups(exercises: tuple[Exercise, ...], progress: Progress = silent) -> Iterator[Redundancy]:
    """Groups of two and more, of which one specimen says as much as all."""
    about: dict[int, str] = {}
    jobs = []
    for exercise in exercises:
        for kept in specimens.read(exercise.file("specimens")):
            if isinstance(kept, Wrong):
                jobs.append(Job(exercise, kept.content(exercise), 0, mode="check"))
                about[id(jobs[-1])] = kept.about
    alike: dict[tuple[str, Signature], list[str]] = defaultdict(list)
    with Pool(exercises, jobs=os.cpu_count() or 1, confined=False) as pool:
        for done, (job, found) in enumerate(pool.judge(jobs), start=1):
            alike[job.slug, _signature(found)].append(about[id(job)])
            progress(done, len(jobs))
    for (slug, signature), same in sorted(alike.items()):
        if len(same) > 1:
            yield Redundancy(slug, tuple(sorted(same)), signature)


def _signature(transcript: Transcript) -> Signature:
    """The checks that failed, and the headline of each one's feedback."""
    failed = [
        (id, found) for id, found in transcript.checks.items() if found.outcome in ("failed", "timeout")
    ]
    return tuple(sorted((id, found.feedback.headline if found.feedback else "") for id, found in failed))
