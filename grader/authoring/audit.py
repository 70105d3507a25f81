"""Does every suite tell right from wrong? Tries stubs, null answers, solutions, broken ones and specimens.

Everything is reported, without stopping at the first problem. What must pass is judged in full. What must
fail is judged by the checks that ought to fail first, and in full only where they do not.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.authoring import capstone, lint, statement, variety
from grader.authoring.audit_case import SEEDS, AuditCase, broken, limited, short, trials_of
from grader.authoring.memory import Memory
from grader.authoring.untold import untold
from grader.core.errors import KataError
from grader.core.progress_bar import Progress
from grader.course import paths, specimens
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.course.specimen import Right, Specimen, Works, Wrong
from grader.engine.pool import Pool
from grader.protocol.check import CheckSpec, function
from grader.protocol.job import Job
from grader.protocol.statuses import SOLVED
from grader.records.records import CheckRecord, ExerciseRecord
from grader.verdict.score import OracleResults, verdict

LEAST: Mapping[type[Specimen], int] = {Works: 2, Right: 2}
"""How many specimens are wanted of an exercise that tells the job from the fine print."""

LEAST_OF_STEP: Mapping[type[Specimen], int] = {Wrong: 3, Right: 2}


@dataclass(frozen=True)
class Problem:
    """One thing that is not as it should be: an exercise or section, and a sentence."""

    where: str
    what: str


def audit(
    catalog: Catalog, exercises: tuple[Exercise, ...], progress: Progress, memory: Memory
) -> list[Problem]:
    """Everything that is wrong with `exercises`, in the catalog's order."""
    found = [Problem(*problem) for problem in lint.problems(catalog, exercises)]
    complete = tuple(e for e in exercises if all(e.file(tree).is_file() for tree in e.trees))
    trials: list[AuditCase] = []
    for exercise in complete:
        try:
            kept = specimens.read(exercise.file("specimens"))
            trials += trials_of(exercise, kept)
            found += [Problem(exercise.slug, what) for what in _too_few(exercise, kept)]
        except (KataError, SyntaxError) as broken:
            found.append(Problem(exercise.slug, f"its specimens cannot be read: {broken}"))
    try:
        found += _run(complete, trials, progress, memory)
    finally:
        memory.write()
    place = {e.slug: index for index, e in enumerate(catalog.exercises)}
    return sorted(found, key=lambda p: (place.get(p.where, -1), p.where))


def _too_few(exercise: Exercise, known: Sequence[Specimen]) -> Iterator[str]:
    """Which specimens are still wanted of a step, or of an exercise that has fine print."""
    if statement.read(exercise).fine is None and not exercise.is_step:
        return
    for kind, least in (LEAST_OF_STEP if exercise.is_step else LEAST).items():
        count = sum(isinstance(one, kind) for one in known)
        if count < least:
            place = paths.shown(exercise.file("specimens"))
            yield f"to do in {place}: {kind.__name__}: {least} are wanted, and here {count}"
    if exercise.is_step and not any(isinstance(one, Wrong) and one.says for one in known):
        yield "no wrong specimen has words to be said: the feedback on the pitfall is to name it"


def _run(
    exercises: tuple[Exercise, ...], trials: list[AuditCase], progress: Progress, memory: Memory
) -> Iterator[Problem]:
    with Pool(exercises, jobs=os.cpu_count() or 1, confined=False) as pool:
        session = _Session(pool, progress, memory)
        checks = {e.slug: pool.inventory.get(e.slug, []) for e in exercises}
        for exercise in exercises:
            if not checks[exercise.slug]:
                lost = pool.judge_one(Job(exercise, b"", 0)).ended.lost
                yield Problem(exercise.slug, lost or "its suites hold no check")
            if exercise.is_step:
                yield from _fine_checks(exercise, checks[exercise.slug])
            trials += broken(exercise, checks[exercise.slug])
            trials += capstone.pairs(exercise, checks[exercise.slug])
        here = {slug for slug, found in checks.items() if not all(check.lacks for check in found)}
        trials = [trial for trial in trials if trial.job.slug in here]
        unsettled = []
        for trial, record in session.records([short(t, checks[t.job.slug]) for t in trials]):
            if trial.kind not in ("broken", "pair") and trial.job.only and not _fails(trial, record):
                memory.keep(trial.job, record)
                unsettled.append(limited(trial, ()))
            else:
                yield from session.judge(trial, record)
        for trial, record in session.records(unsettled):
            yield from session.judge(trial, record)
        wrong = [t for t in trials if t.kind == "wrong"]
        idle = {slug: _idle(checks[slug], session.killers[slug]) for slug in checks}
        again = [limited(t, idle[t.job.slug]) for t in wrong if idle[t.job.slug]]
        for trial, record in session.records(again):
            memory.keep(trial.job, record)
        for exercise in exercises:
            yield from session.oracle(exercise)
            for name in sorted(
                {function(check) for check in idle[exercise.slug]} - session.killers[exercise.slug]
            ):
                yield Problem(exercise.slug, f"no wrong answer fails {name}: add one, or drop the check")


class _Session:
    """Judges trials, one list after the other, and remembers which checks answers fail that need not pass."""

    def __init__(self, pool: Pool, progress: Progress, memory: Memory) -> None:
        self.killers: dict[str, set[str]] = defaultdict(set)
        self._pool = pool
        self._progress = progress
        self._memory = memory
        self._wanted: dict[tuple[str, int], OracleResults] = {}
        self._done = self._total = 0

    def oracle(self, exercise: Exercise) -> Iterator[Problem]:
        """What is wrong with an oracle: much the same for each seed, or fine print in a step's."""
        if self._memory.is_settled(exercise):
            return
        wanted = [self._reference(exercise, seed) for seed in SEEDS]
        least = variety.LEAST_OF_STEP if exercise.is_step else variety.LEAST
        results = [one.oracle for one in wanted]
        if uniform := None if None in results else variety.problem(results, least):
            yield Problem(exercise.slug, uniform)
        elif exercise.is_step and wanted[0].fine is not None:
            yield Problem(exercise.slug, "a step has no fine print: drop its fine_oracle, or fine_inputs")
        else:
            self._memory.settle(exercise)

    def judge(self, trial: AuditCase, record: ExerciseRecord) -> Iterator[Problem]:
        """What is not as expected; where nothing is, the record is remembered."""
        problems = list(_judge(trial, record))
        if not problems:
            self._memory.keep(trial.job, record)
        yield from problems

    def records(self, trials: list[AuditCase]) -> Iterator[tuple[AuditCase, ExerciseRecord]]:
        """What came of the trials: first of those that are remembered."""
        self._total += len(trials)
        new: dict[int, AuditCase] = {}
        for trial in trials:
            if known := self._memory.record(trial.job):
                yield trial, self._seen(trial, known)
            else:
                new[id(trial.job)] = trial
        for job, found in self._pool.judge(trial.job for trial in new.values()):
            exercise = job.exercise
            expected = self._pool.inventory.get(exercise.slug, [])
            record = verdict(exercise, expected, found, self._reference(exercise, job.seed))
            trial = new[id(job)]
            yield trial, self._seen(trial, record)

    def _seen(self, trial: AuditCase, record: ExerciseRecord) -> ExerciseRecord:
        if trial.may_fail:
            self.killers[trial.job.slug] |= {function(c.id) for c in record.checks if c.outcome == "failed"}
        self._done += 1
        self._progress(self._done, self._total)
        return record

    def _reference(self, exercise: Exercise, seed: int) -> OracleResults:
        """What the solution gives, which need not pass here: it is on trial like the others."""
        key = exercise.slug, seed
        if key not in self._wanted:
            solution = exercise.content("solutions")
            found = self._pool.reference(Job(exercise, solution, seed, mode="oracle"))
            self._wanted[key] = OracleResults(found.oracle, found.fine_oracle)
        return self._wanted[key]


def _fine_checks(step: Exercise, checks: Iterable[CheckSpec]) -> Iterator[Problem]:
    for name in sorted({check.function for check in checks if check.fine}):
        yield Problem(step.slug, f"{name} is fine print, and a step has none: drop it, or the mark")


def _fails(trial: AuditCase, record: ExerciseRecord) -> bool:
    """Whether a check fails to which the trial is limited."""
    return any(c.outcome == "failed" and c.id in trial.job.only for c in record.checks)


def _does_job(record: ExerciseRecord) -> bool:
    return all(c.outcome in ("passed", "not_graded") for c in record.checks if not c.fine)


def _judge(trial: AuditCase, record: ExerciseRecord) -> Iterator[Problem]:
    where = trial.job.slug
    if record.status == "grader_fault":
        yield Problem(where, f"{trial.about}: the grader failed: {'; '.join(record.flags)}")
    elif trial.kind in ("stub", "null") and record.status in SOLVED:
        yield Problem(where, f"{trial.about} works")
    elif trial.kind == "right" and record.status != "passed":
        yield Problem(
            where, f"{trial.about} is right but {record.status}: {_reasons(record.checks, record.flags)}"
        )
    elif trial.kind == "broken":
        yield from (Problem(where, f"{what} {trial.about}") for what in _letting_through(trial, record))
    elif trial.kind == "pair":
        yield from (Problem(where, what) for what in capstone.blind(trial, record))
    elif trial.kind == "works" and not _does_job(record):
        job = [c for c in record.checks if not c.fine]
        yield Problem(where, f"{trial.about} does not work: {_reasons(job, record.flags)}")
    elif trial.specimen is not None and trial.specimen.rung == "job" and _does_job(record):
        yield Problem(where, f"wrong answer {trial.about!r} works: only checks of the fine print fail on it")
    elif trial.specimen is not None:
        yield from _judge_wrong(trial.specimen, record, where)


def _letting_through(broken: AuditCase, record: ExerciseRecord) -> Iterator[str]:
    """Which checks do not refuse what they say that they do: "hidden::test_empty lets through"."""
    for check in record.checks:
        if check.id in broken.job.only and check.outcome not in ("failed", "timeout", "not_graded"):
            how = "lets through" if check.outcome == "passed" else f"is {check.outcome} of"
            yield f"{check.id} {how}"


def _judge_wrong(wrong: Wrong, record: ExerciseRecord, where: str) -> Iterator[Problem]:
    about = f"wrong answer {wrong.about!r}"
    if record.status == "passed":
        yield Problem(where, f"{about} passes")
        return
    failed = [c for c in record.checks if c.outcome == "failed" and function(c.id) == wrong.check]
    if wrong.check and not failed:
        others = (
            ", ".join(sorted({function(c.id) for c in record.checks if c.outcome == "failed"}))
            or record.status
        )
        yield Problem(where, f"{about} is not caught by {wrong.check}, only by {others}")
    elif wrong.says and not any(_flat(wrong.says) in _flat(f"{c.title} {c.message}") for c in failed):
        lacking = f"{about}: the feedback of {wrong.check} lacks {wrong.says!r}:\n{failed[0].message}"
        known = (line for c in failed if c.feedback for line in untold(c.feedback))
        why = next((f"\n{line}" for line in known if _flat(wrong.says) in _flat(line)), "")
        yield Problem(where, lacking + why)


def _flat(text: str) -> str:
    """On one line and in small letters: what is told of a check was wrapped."""
    return re.sub(r"\s+", " ", text.lower())


def _reasons(checks: Iterable[CheckRecord], flags: Iterable[str]) -> str:
    """What failed; checks that begin alike share a message, as one slip fails many."""
    alike: dict[str, list[CheckRecord]] = defaultdict(list)
    for check in checks:
        if check.outcome not in ("passed", "not_graded"):
            alike[check.feedback.headline if check.feedback else check.message].append(check)
    told = [
        f"{', '.join(c.id for c in some)} {some[0].outcome}\n{some[0].message}" for some in alike.values()
    ]
    return "; ".join([*told, *flags])


def _idle(expected: Iterable[CheckSpec], killers: set[str]) -> tuple[str, ...]:
    """The hidden checks, or a step's public ones, that no answer has failed so far that need not pass."""
    ids = [e.id for e in expected if not e.lacks]
    hidden = [check for check in ids if check.startswith("hidden::")]
    return tuple(check for check in hidden or ids if function(check) not in killers)
