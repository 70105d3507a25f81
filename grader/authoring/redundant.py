"""Which wrong answers tell a suite nothing new: the same checks fail on another, with the same headline."""

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from grader.authoring import specimen
from grader.authoring.specimen import Wrong
from grader.core.progress_bar import Progress, silent
from grader.course.catalog import Exercise
from grader.engine.pool import Findings, Pool, Request

Signature = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Group:
    """Wrong answers to one exercise, and the checks that fail on each of them with the same headlines."""

    where: str
    about: tuple[str, ...]
    signature: Signature

    def __str__(self) -> str:
        told = "; ".join(f"{check}: {headline}" for check, headline in self.signature) or "no check"
        return "\n".join([f"{self.where}: {told}", *(f"  {about}" for about in self.about)])


def groups(exercises: tuple[Exercise, ...], progress: Progress = silent) -> Iterator[Group]:
    """Groups of two and more, of which one specimen says as much as all."""
    about: dict[int, str] = {}
    requests = []
    for exercise in exercises:
        solution = exercise.file("solutions").read_text("utf-8")
        for kept in specimen.read(exercise.file("specimens")):
            if isinstance(kept, Wrong):
                requests.append(Request(exercise, kept.source(solution).encode(), 0, mode="check"))
                about[id(requests[-1])] = kept.about
    alike: dict[tuple[str, Signature], list[str]] = defaultdict(list)
    with Pool(exercises, jobs=os.cpu_count() or 1, confined=False) as pool:
        for done, (request, findings) in enumerate(pool.judge(requests), start=1):
            alike[request.exercise.slug, _signature(findings)].append(about[id(request)])
            progress(done, len(requests))
    for (slug, signature), found in sorted(alike.items()):
        if len(found) > 1:
            yield Group(slug, tuple(sorted(found)), signature)


def _signature(findings: Findings) -> Signature:
    """The checks that failed, and what the first line of each one's feedback says after its title."""
    failed = [line for line in findings.lines if line.get("outcome") in ("failed", "timeout")]
    return tuple(sorted((line["check"], _headline(line["message"])) for line in failed))


def _headline(message: str) -> str:
    return next(iter(message.splitlines()[1:2]), "")
