"""Submissions to results: plans, deduplicates, schedules, resumes.

Every verdict is kept under the address of what it depends on: the answer's bytes, the suites, the
reference, the grader, torch and the seed. So a file that many students hand in is judged once, a changed
test regrades only its exercise, and a run that was killed goes on where it stopped.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.grading import bugs_found, foreign
from grader.classroom.grading.store import Store, expect_writable, write
from grader.classroom.submissions.class_folder import Submission, listed
from grader.classroom.submissions.roll_call import KEPT, is_judged
from grader.core.progress_bar import Progress, silent
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.course.policy import USUAL, Policy
from grader.course.variant_table import NOBODYS, VariantTable
from grader.engine import backend
from grader.protocol.job import Job
from grader.protocol.judge import Judge
from grader.records.log import Log
from grader.records.records import (
    ExerciseRecord,
    StudentRecord,
    merged,
    read_json,
    read_student,
    student_to_json,
)
from grader.verdict import cache_key, oracle_match
from grader.verdict.references import References
from grader.verdict.score import scored, unjudged, unreadable, untouched


@dataclass(frozen=True)
class DistinctAnswer:
    """One different answer, and everyone who handed it in."""

    exercise: Exercise
    answer: bytes
    key: str


MOST_SEEDS = 2**48
"""A seed below it is a number for every reader of JSON, and cannot be found by trying."""

_SHOWN = "is what `kata grade` wrote for formgrader, and no verdict of before is there"

StartJudge = Callable[[Sequence[Exercise]], AbstractContextManager[Judge]]


@dataclass(frozen=True)
class GradingSettings:
    """How to grade: where results go, the run's seed, workers at a time, confined or not.

    `cluster` starts a judge elsewhere; without it, this machine judges. `policy` says what an answer earns,
    and `variants` which start of a capstone a student got.
    """

    out: Path
    seed: int
    jobs: int
    confined: bool
    cluster: StartJudge | None = None
    policy: Policy = USUAL
    variants: VariantTable = NOBODYS


def grade(
    submissions: Sequence[Submission],
    exercises: Sequence[Exercise],
    settings: GradingSettings,
    progress: Progress = silent,
    log: Log | None = None,
) -> list[StudentRecord]:
    """Judge every submission, write `results/<student>.json` for each, and note in the `log` what changed.

    Exercises that this run does not judge stay in the records as they are there, and so do those that were
    judged once and of which this hand-in has nothing: notes name them.

    Raises:
        KataError: there is no sandbox, or results cannot be written. What was judged is kept.
    """
    expect_writable(settings.out)
    log = log or Log(settings.out)
    tasks = _plan(submissions, exercises, settings)
    store = Store(settings.out)
    missing = [task for task in tasks.values() if store.get(task.key) is None]
    if missing:
        _judge(missing, settings, store, progress)
    known = {exercise.slug: exercise.points for exercise in load().exercises}
    files = [settings.out / f"{submission.student}.json" for submission in submissions]
    records = []
    for submission, file in zip(submissions, files, strict=True):
        earlier = read_student(file)
        found = _student(submission, exercises, settings, store, earlier)
        records.append(_scored(merged(earlier, found, known), settings.policy))
        log.judged(earlier, records[-1])
    log.keep()  # first: what was killed after this is noted once all the same
    with ThreadPoolExecutor() as threads:  # each waits for the disk, most of its time
        list(threads.map(write, files, map(student_to_json, records)))
    return records


def _scored(record: StudentRecord, policy: Policy) -> StudentRecord:
    """The record by the policy of today, also what an earlier run judged."""
    by = {"policy": cache_key.of_policy(policy)}
    exercises = {
        slug: replace(scored(e, policy), digests={**e.digests, **by} if e.digests else {})
        for slug, e in record.exercises.items()
    }
    return replace(record, exercises=exercises)


def seed_of(out: Path, given: int | None) -> int:
    """The seed of a folder of results: the given one, else the one it has, else a new one that nobody knows.

    The folder keeps it for the runs to come, so that nothing is judged twice.

    Raises:
        KataError: the folder cannot be written.
    """
    expect_writable(out)
    file = out / ".seed"
    kept = read_json(file)
    known = kept if isinstance(kept, int) else secrets.randbelow(MOST_SEEDS)
    seed = known if given is None else given
    if seed != kept:
        write(file, seed)
    return seed


def _plan(
    submissions: Iterable[Submission], exercises: Iterable[Exercise], settings: GradingSettings
) -> dict[str, DistinctAnswer]:
    """Every different answer once, by its key."""
    tasks: dict[str, DistinctAnswer] = {}
    chosen = list(exercises)
    for submission in submissions:
        for exercise in (settings.variants.of(submission.student, one) for one in chosen):
            if submission.holds(exercise):
                answer = submission.answers[exercise.slug]
                key = _key(exercise, answer, settings)
                tasks.setdefault(key, DistinctAnswer(exercise, answer, key))
    return tasks


def _key(exercise: Exercise, answer: bytes, settings: GradingSettings) -> str:
    return cache_key.of(exercise, answer, settings.seed, confined=settings.confined)


def _judge(
    tasks: Sequence[DistinctAnswer], settings: GradingSettings, store: Store, progress: Progress
) -> None:
    exercises = tuple({task.exercise.slug: task.exercise for task in tasks}.values())
    starting = _judge_of(exercises, settings, len(tasks))
    oracle_match.prepare()
    with starting as judge:
        references = References(judge, settings.seed)
        jobs = _jobs(tasks, references, store)
        for done, (job, found) in enumerate(judge.judge(jobs), start=1):
            record = references.verdict(job, found)
            key = _key(job.exercise, job.answer, settings)
            if record.needs_manual_grade:  # the next run may have what this one lacks
                store.unjudged[key] = record
            else:
                store.put(key, record)
            progress(done, len(tasks))


def _jobs(tasks: Sequence[DistinctAnswer], references: References, store: Store) -> Iterator[Job]:
    """The answers to judge. Where the reference does not pass itself, they are faults without being judged.

    A reference is judged when the first answer is asked for, while those before it are judged.
    """
    for task in tasks:
        if trouble := references.of(task.exercise).trouble:
            store.unjudged[task.key] = unjudged(task.exercise, trouble)
        else:
            yield Job(task.exercise, task.answer, references.seed)


def _judge_of(
    exercises: Sequence[Exercise], settings: GradingSettings, answers: int
) -> AbstractContextManager[Judge]:
    if settings.cluster is not None:
        return settings.cluster(exercises)
    return backend.judge(exercises, min(settings.jobs, answers), confined=settings.confined)


def _student(
    submission: Submission,
    exercises: Iterable[Exercise],
    settings: GradingSettings,
    store: Store,
    earlier: StudentRecord | None,
) -> StudentRecord:
    """What this run says of a student. It says nothing where only an earlier one had an answer."""
    found: dict[str, ExerciseRecord] = {}
    before = earlier.exercises if earlier and earlier.student == submission.student else {}
    kept = []
    for exercise in (settings.variants.of(submission.student, one) for one in exercises):
        if exercise.slug in submission.kept and exercise.slug in before:
            continue
        now = bugs_found.noted(exercise, _verdict(submission, exercise, settings, store))
        is_silent = now.status == "todo" or exercise.slug in submission.doubtful
        if is_silent and exercise.slug in before and is_judged(before[exercise.slug]):
            kept.append(exercise.slug)
        else:
            found[exercise.slug] = now
    notes = submission.notes + listed(KEPT, kept)
    return StudentRecord(submission.student, settings.seed, found, notes)


def _verdict(
    submission: Submission, exercise: Exercise, settings: GradingSettings, store: Store
) -> ExerciseRecord:
    if problem := submission.problems.get(exercise.slug):
        return unreadable(exercise, problem)
    if exercise.slug in submission.kept:
        return unreadable(exercise, f"{exercise.assignment}.ipynb {_SHOWN}")
    if not submission.holds(exercise):
        return untouched(exercise)
    answer = submission.answers[exercise.slug]
    key = _key(exercise, answer, settings)
    judged = store.get(key) or store.unjudged[key]
    parts = cache_key.parts(exercise, answer, settings.seed, confined=settings.confined)
    odd = foreign.flag(exercise, answer, settings.variants)
    flags = (*judged.flags, *filter(None, [odd]))
    return replace(judged, points=exercise.points, digests=cache_key.short(parts), flags=flags)
