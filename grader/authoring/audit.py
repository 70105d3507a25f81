"""Does every suite tell right from wrong? Tries stubs, null answers, solutions and specimens.

Everything is reported, without stopping at the first problem. What must pass is judged in full. What must
fail is judged by the checks that ought to fail first, and in full only where they do not.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from grader.authoring import lint, nulls, specimen, statement, variety
from grader.authoring.specimen import Right, Specimen, Works, Wrong
from grader.core.errors import KataError
from grader.core.progress_bar import Progress, silent
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.engine.pool import Pool
from grader.grading.score import Wanted, verdict
from grader.protocol.check import CheckSpec
from grader.protocol.job import Job
from grader.records.records import CheckRecord, ExerciseRecord

SEEDS = (0, 1, 2)

LEAST: Mapping[type[Specimen], int] = {Works: 2, Right: 2}
"""How many specimens are wanted of an exercise that tells the job from the fine print."""

LEAST_OF_STEP: Mapping[type[Specimen], int] = {Wrong: 3, Right: 2}


@dataclass(frozen=True)
class Problem:
    """One thing that is not as it should be: an exercise or section, and a sentence."""

    where: str
    what: str


@dataclass(frozen=True)
class Trial:
    """One answer to try, and what is expected of it."""

    kind: Literal["stub", "null", "right", "works", "wrong"]
    about: str
    job: Job
    specimen: Wrong | None = None


def audit(catalog: Catalog, exercises: tuple[Exercise, ...], progress: Progress = silent) -> list[Problem]:
    """Everything that is wrong with `exercises`, in the catalog's order."""
    found = [Problem(*problem) for problem in lint.problems(catalog, exercises)]
    complete = tuple(e for e in exercises if all(e.file(tree).is_file() for tree in e.trees))
    trials: list[Trial] = []
    for exercise in complete:
        try:
            kept = specimen.read(exercise.file("specimens"))
            trials += _trials(exercise, kept)
            found += [Problem(exercise.slug, what) for what in _too_few(exercise, kept)]
        except (KataError, SyntaxError) as broken:
            found.append(Problem(exercise.slug, f"its specimens cannot be read: {broken}"))
    found += _run(complete, trials, progress)
    place = {e.slug: index for index, e in enumerate(catalog.exercises)}
    return sorted(found, key=lambda p: (place.get(p.where, -1), p.where))


def _too_few(exercise: Exercise, specimens: Sequence[Specimen]) -> Iterator[str]:
    """Which specimens are still wanted of a step, or of an exercise that has fine print."""
    if statement.read(exercise).fine is None and not exercise.is_step:
        return
    for kind, least in (LEAST_OF_STEP if exercise.is_step else LEAST).items():
        count = sum(isinstance(one, kind) for one in specimens)
        if count < least:
            place = paths.shown(exercise.file("specimens"))
            yield f"to do in {place}: {kind.__name__}: {least} are wanted, and here {count}"
    if exercise.is_step and not any(isinstance(one, Wrong) and one.says for one in specimens):
        yield "no wrong specimen has says=: the feedback on the pitfall is to name it"


def _trials(exercise: Exercise, specimens: Sequence[Specimen]) -> Iterator[Trial]:
    solution = exercise.content("solutions")
    yield Trial("stub", "the stub", Job(exercise, exercise.content("exercises"), 0))
    for about, answer in nulls.answers(exercise, solution).items():
        yield Trial("null", f"the null answer that {about}", Job(exercise, answer, 0))
    for seed in SEEDS:
        yield Trial("right", f"the solution (seed {seed})", _shuffled(exercise, solution, seed))
    for number, kept in enumerate(specimens):
        answer = kept.content(exercise)
        if isinstance(kept, Wrong):
            yield Trial("wrong", kept.about, Job(exercise, answer, 0), kept)
        else:
            seed = SEEDS[number % len(SEEDS)]
            kind: Literal["works", "right"] = "works" if isinstance(kept, Works) else "right"
            yield Trial(kind, f"{kept.about} (seed {seed})", _shuffled(exercise, answer, seed))


def _shuffled(exercise: Exercise, answer: bytes, seed: int) -> Job:
    return Job(exercise, answer, seed, shuffled=True)


def _run(exercises: tuple[Exercise, ...], trials: list[Trial], progress: Progress) -> Iterator[Problem]:
    with Pool(exercises, jobs=os.cpu_count() or 1, confined=False) as pool:
        session = _Session(pool, progress)
        checks = {e.slug: pool.inventory.get(e.slug, []) for e in exercises}
        for exercise in exercises:
            if not checks[exercise.slug]:
                lost = pool.judge_one(Job(exercise, b"", 0)).ended.lost
                yield Problem(exercise.slug, lost or "its suites hold no check")
            if exercise.is_step:
                yield from session.fine_print(exercise, checks[exercise.slug])
        here = {slug for slug, found in checks.items() if not all(check.lacks for check in found)}
        trials = [trial for trial in trials if trial.job.slug in here]
        unsettled = []
        for trial, record in session.records([_short(t, checks[t.job.slug]) for t in trials]):
            if trial.job.only and not _fails(trial, record):
                unsettled.append(_limited(trial, ()))
            else:
                yield from _judge(trial, record)
        for trial, record in session.records(unsettled):
            yield from _judge(trial, record)
        wrong = [t for t in trials if t.kind == "wrong"]
        idle = {slug: _idle(checks[slug], session.killers[slug]) for slug in checks}
        again = [_limited(t, idle[t.job.slug]) for t in wrong if idle[t.job.slug]]
        for _ in session.records(again):
            pass
        for exercise in exercises:
            if uniform := session.uniform(exercise):
                yield Problem(exercise.slug, uniform)
            for name in sorted(
                {_function(check) for check in idle[exercise.slug]} - session.killers[exercise.slug]
            ):
                yield Problem(exercise.slug, f"no wrong answer fails {name}: add one, or drop the check")


class _Session:
    """Judges trials, one list after the other, and remembers which checks answers fail that need not pass."""

    def __init__(self, pool: Pool, progress: Progress) -> None:
        self.killers: dict[str, set[str]] = defaultdict(set)
        self._pool = pool
        self._progress = progress
        self._wanted: dict[tuple[str, int], Wanted] = {}
        self._done = self._total = 0

    def uniform(self, exercise: Exercise) -> str | None:
        """What is wrong with an oracle that gives much the same for each seed."""
        results = [self._reference(exercise, seed).oracle for seed in SEEDS]
        least = variety.LEAST_OF_STEP if exercise.is_step else variety.LEAST
        return None if None in results else variety.problem(results, least)

    def fine_print(self, step: Exercise, checks: Iterable[CheckSpec]) -> Iterator[Problem]:
        """What of a step is no part of its job."""
        for name in sorted({_function(check.id) for check in checks if check.fine}):
            yield Problem(step.slug, f"{name} is fine print, and a step has none: drop it, or the mark")
        if self._reference(step, SEEDS[0]).fine is not None:
            yield Problem(step.slug, "a step has no fine print: drop its fine_oracle, or fine_inputs")

    def records(self, trials: list[Trial]) -> Iterator[tuple[Trial, ExerciseRecord]]:
        by_job = {id(trial.job): trial for trial in trials}
        self._total += len(trials)
        for job, found in self._pool.judge(trial.job for trial in trials):
            trial, exercise = by_job[id(job)], job.exercise
            expected = self._pool.inventory.get(exercise.slug, [])
            record = verdict(exercise, expected, found, self._reference(exercise, job.seed))
            if trial.kind in ("wrong", "works"):
                self.killers[exercise.slug] |= {
                    _function(c.id) for c in record.checks if c.outcome == "failed"
                }
            self._done += 1
            self._progress(self._done, self._total)
            yield trial, record

    def _reference(self, exercise: Exercise, seed: int) -> Wanted:
        """What the solution gives, which need not pass here: it is on trial like the others."""
        key = exercise.slug, seed
        if key not in self._wanted:
            solution = exercise.content("solutions")
            found = self._pool.reference(Job(exercise, solution, seed, mode="oracle"))
            self._wanted[key] = Wanted(found.oracle, found.fine_oracle)
        return self._wanted[key]


def _short(trial: Trial, checks: Iterable[CheckSpec]) -> Trial:
    """Limited to the checks that ought to fail: the public ones, or the one that a specimen names."""
    if trial.kind in ("stub", "null"):
        return _limited(trial, tuple(c.id for c in checks if c.id.startswith("public::")))
    wrong = trial.specimen
    if wrong is None or not wrong.check:
        return trial
    named = [c for c in checks if _function(c.id) == wrong.check]
    settled = wrong.rung == "fine" or not any(c.fine for c in named)
    return _limited(trial, tuple(c.id for c in named) if settled else ())


def _limited(trial: Trial, only: tuple[str, ...]) -> Trial:
    return replace(trial, job=replace(trial.job, only=only))


def _fails(trial: Trial, record: ExerciseRecord) -> bool:
    """Whether a check fails to which the trial is limited."""
    return any(c.outcome == "failed" and c.id in trial.job.only for c in record.checks)


def _does_job(record: ExerciseRecord) -> bool:
    return all(c.outcome in ("passed", "not_graded") for c in record.checks if not c.fine)


def _judge(trial: Trial, record: ExerciseRecord) -> Iterator[Problem]:
    where = trial.job.slug
    if record.status == "grader_fault":
        yield Problem(where, f"{trial.about}: the grader failed: {'; '.join(record.flags)}")
    elif trial.kind in ("stub", "null") and record.status in ("works", "passed"):
        yield Problem(where, f"{trial.about} works")
    elif trial.kind == "right" and record.status != "passed":
        yield Problem(
            where, f"{trial.about} is right but {record.status}: {_reasons(record.checks, record.flags)}"
        )
    elif trial.kind == "works" and not _does_job(record):
        job = [c for c in record.checks if not c.fine]
        yield Problem(where, f"{trial.about} does not work: {_reasons(job, record.flags)}")
    elif trial.specimen is not None and trial.specimen.rung == "job" and _does_job(record):
        yield Problem(where, f"wrong answer {trial.about!r} works: only checks of the fine print fail on it")
    elif trial.specimen is not None:
        yield from _judge_wrong(trial.specimen, record, where)


def _judge_wrong(wrong: Wrong, record: ExerciseRecord, where: str) -> Iterator[Problem]:
    about = f"wrong answer {wrong.about!r}"
    if record.status == "passed":
        yield Problem(where, f"{about} passes")
        return
    failed = [c for c in record.checks if c.outcome == "failed" and _function(c.id) == wrong.check]
    if wrong.check and not failed:
        others = (
            ", ".join(sorted({_function(c.id) for c in record.checks if c.outcome == "failed"}))
            or record.status
        )
        yield Problem(where, f"{about} is not caught by {wrong.check}, only by {others}")
    elif wrong.says and not any(_flat(wrong.says) in _flat(f"{c.title} {c.message}") for c in failed):
        yield Problem(
            where, f"{about}: the feedback of {wrong.check} lacks {wrong.says!r}:\n{failed[0].message}"
        )


def _flat(text: str) -> str:
    """On one line and in small letters: what is told of a check was wrapped."""
    return re.sub(r"\s+", " ", text.lower())


def _reasons(checks: Iterable[CheckRecord], flags: Iterable[str]) -> str:
    failed = [c for c in checks if c.outcome not in ("passed", "not_graded")]
    return "; ".join([f"{c.id} {c.outcome}\n{c.message}" for c in failed] + list(flags))


def _function(check: str) -> str:
    """`test_dtype` for `hidden::test_dtype[float16]`."""
    return check.split("::")[-1].split("[")[0]


def _idle(expected: Iterable[CheckSpec], killers: set[str]) -> tuple[str, ...]:
    """The hidden checks, or a step's public ones, that no answer has failed so far that need not pass."""
    ids = [e.id for e in expected if not e.lacks]
    hidden = [check for check in ids if check.startswith("hidden::")]
    return tuple(check for check in hidden or ids if _function(check) not in killers)
