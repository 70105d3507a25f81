"""What an audit tries: answers, and what is expected of each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from grader.authoring import nulls, stand_in
from grader.course.exercise import Exercise
from grader.course.specimen import Specimen, Works, Wrong
from grader.protocol.check import CheckSpec
from grader.protocol.job import Job

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class AuditCase:
    """One answer to try, and what is expected of it: of a pair of bugs, that the `wanted` checks fail."""

    kind: Literal["stub", "null", "right", "works", "wrong", "broken", "pair"]
    about: str
    job: Job
    specimen: Wrong | None = None
    wanted: tuple[str, ...] = ()

    @property
    def may_fail(self) -> bool:
        """Whether what fails on it shows that a check is good for something."""
        return self.kind in ("works", "wrong", "broken")


def trials_of(exercise: Exercise, known: Sequence[Specimen]) -> Iterator[AuditCase]:
    """Stub, null answers, solution and specimens."""
    solution = exercise.content("solutions")
    yield AuditCase("stub", "the stub", Job(exercise, exercise.content("exercises"), 0))
    for about in nulls.KINDS:
        answer = stand_in.answer(exercise, "nulls", about)
        yield AuditCase("null", f"the null answer that {about}", Job(exercise, answer, 0))
    for seed in SEEDS:
        yield AuditCase("right", f"the solution (seed {seed})", _shuffled(exercise, solution, seed))
    for number, kept in enumerate(known):
        answer = kept.content(exercise)
        if isinstance(kept, Wrong):
            yield AuditCase("wrong", kept.about, Job(exercise, answer, 0), kept)
        else:
            seed = SEEDS[number % len(SEEDS)]
            kind: Literal["works", "right"] = "works" if isinstance(kept, Works) else "right"
            yield AuditCase(kind, f"{kept.about} (seed {seed})", _shuffled(exercise, answer, seed))


def broken(exercise: Exercise, checks: Iterable[CheckSpec]) -> Iterator[AuditCase]:
    """The solution with each of the breakages that its checks refuse, judged by those that do."""
    refusing: dict[str, list[str]] = defaultdict(list)
    for check in checks:
        for breakage in check.refuses:
            refusing[breakage].append(check.id)
    for breakage, only in refusing.items():
        answer = stand_in.answer(exercise, "breakages", breakage, constructors=True)
        yield AuditCase("broken", f"the solution that {breakage}", Job(exercise, answer, 0, only=tuple(only)))


def _shuffled(exercise: Exercise, answer: bytes, seed: int) -> Job:
    return Job(exercise, answer, seed, shuffled=True)


def short(trial: AuditCase, checks: Iterable[CheckSpec]) -> AuditCase:
    """Limited to the checks that ought to fail: the public ones, or the one that a specimen names."""
    if trial.kind in ("stub", "null"):
        return limited(trial, tuple(c.id for c in checks if c.id.startswith("public::")))
    wrong = trial.specimen
    if wrong is None or not wrong.check:
        return trial
    named = [c for c in checks if c.function == wrong.check]
    settled = wrong.rung == "fine" or not any(c.fine for c in named)
    return limited(trial, tuple(c.id for c in named) if settled else ())


def limited(trial: AuditCase, only: tuple[str, ...]) -> AuditCase:
    """The same, judged by these checks alone; by all where there is none."""
    return replace(trial, job=replace(trial.job, only=only))
