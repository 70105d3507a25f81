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

from grader.core.progress_bar import Progress, silent
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.course.policy import USUAL, Policy
from grader.engine import backend
from grader.grading import cache_key, oracle_match
from grader.grading.references import References
from grader.grading.score import scored, unjudged, unreadable, untouched
from grader.grading.store import Store, expect_writable, write
from grader.protocol.job import Job
from grader.protocol.judge import Judge
from grader.records.records import (
    ExerciseRecord,
    StudentRecord,
    merged,
    read_json,
    read_student,
    student_to_json,
)
from grader.submissions.class_folder import Submission


@dataclass(frozen=True)
class Task:
    """One different answer, and everyone who handed it in."""

    exercise: Exercise
    answer: bytes
    key: str


MOST_SEEDS = 2**48
"""A seed below it is a number for every reader of JSON, and cannot be found by trying."""

StartJudge = Callable[[Sequence[Exercise]], AbstractContextManager[Judge]]


@dataclass(frozen=True)
class Settings:
    """How to grade: where results go, the run's seed, workers at a time, confined or not.

    `cluster` starts a judge elsewhere; without it, this machine judges. `policy` says what an answer earns.
    """

    out: Path
    seed: int
    jobs: int
    confined: bool
    cluster: StartJudge | None = None
    policy: Policy = USUAL


def grade(
    submissions: Sequence[Submission],
    exercises: Sequence[Exercise],
    settings: Settings,
    progress: Progress = silent,
) -> list[StudentRecord]:
    """Judge every submission and write `results/<student>.json` for each.

    Exercises that this run does not judge stay in the records as they are there.

    Raises:
        KataError: there is no sandbox, or results cannot be written. What was judged is kept.
    """
    expect_writable(settings.out)
    tasks = _plan(submissions, exercises, settings)
    store = Store(settings.out)
    missing = [task for task in tasks.values() if store.get(task.key) is None]
    if missing:
        _judge(missing, settings, store, progress)
    known = {exercise.slug: exercise.points for exercise in load().exercises}
    files = [settings.out / f"{submission.student}.json" for submission in submissions]
    found = (_student(submission, exercises, settings, store) for submission in submissions)
    whole = (merged(read_student(f), r, known) for f, r in zip(files, found, strict=True))
    records = [_scored(record, settings.policy) for record in whole]
    with ThreadPoolExecutor() as threads:  # each waits for the disk, most of its time
        list(threads.map(write, files, map(student_to_json, records)))
    return records


def _scored(record: StudentRecord, policy: Policy) -> StudentRecord:
    return replace(record, exercises={slug: scored(e, policy) for slug, e in record.exercises.items()})


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
    submissions: Iterable[Submission], exercises: Iterable[Exercise], settings: Settings
) -> dict[str, Task]:
    """Every different answer once, by its key."""
    tasks: dict[str, Task] = {}
    chosen = list(exercises)
    for submission in submissions:
        for exercise in chosen:
            answer = submission.answers.get(exercise.slug)
            if answer is not None and not exercise.is_start(answer):
                key = _key(exercise, answer, settings)
                tasks.setdefault(key, Task(exercise, answer, key))
    return tasks


def _key(exercise: Exercise, answer: bytes, settings: Settings) -> str:
    return cache_key.of(exercise, answer, settings.seed, confined=settings.confined)


def _judge(tasks: Sequence[Task], settings: Settings, store: Store, progress: Progress) -> None:
    exercises = tuple({task.exercise.slug: task.exercise for task in tasks}.values())
    starting = _judge_of(exercises, settings, len(tasks))
    oracle_match.prepare()
    with starting as judge:
        references = References(judge, settings.seed)
        jobs = _jobs(tasks, references, store)
        for done, (job, found) in enumerate(judge.judge(jobs), start=1):
            record = references.verdict(job.exercise, found)
            key = _key(job.exercise, job.answer, settings)
            if record.needs_manual_grade:  # the next run may have what this one lacks
                store.unjudged[key] = record
            else:
                store.put(key, record)
            progress(done, len(tasks))


def _jobs(tasks: Sequence[Task], references: References, store: Store) -> Iterator[Job]:
    """The answers to judge. Where the reference does not pass itself, they are faults without being judged.

    A reference is judged when the first answer is asked for, while those before it are judged.
    """
    for task in tasks:
        if trouble := references.of(task.exercise).trouble:
            store.unjudged[task.key] = unjudged(task.exercise, trouble)
        else:
            yield Job(task.exercise, task.answer, references.seed)


def _judge_of(
    exercises: Sequence[Exercise], settings: Settings, answers: int
) -> AbstractContextManager[Judge]:
    if settings.cluster is not None:
        return settings.cluster(exercises)
    return backend.judge(exercises, min(settings.jobs, answers), confined=settings.confined)


def _student(
    submission: Submission, exercises: Iterable[Exercise], settings: Settings, store: Store
) -> StudentRecord:
    found: dict[str, ExerciseRecord] = {}
    for exercise in exercises:
        answer = submission.answers.get(exercise.slug)
        problem = submission.problems.get(exercise.slug)
        if exercise.slug in submission.kept:
            continue
        if problem is not None:
            found[exercise.slug] = unreadable(exercise, problem)
        elif answer is None or exercise.is_start(answer):
            found[exercise.slug] = untouched(exercise)
        else:
            key = _key(exercise, answer, settings)
            judged = store.get(key) or store.unjudged[key]
            found[exercise.slug] = replace(judged, points=exercise.points)
    return StudentRecord(submission.student, settings.seed, found, submission.notes)
