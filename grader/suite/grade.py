"""Submissions to results, by a suite: what is known already is not judged again.

A verdict is kept under the address of what it depends on: the student's files, the file of tests and all that
the suite brings beside tests, what the reference makes of them, the grader, torch and pytest. Not on points.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core.progress_bar import Progress, silent
from grader.grading import cache_key
from grader.grading.score import unreadable, untouched
from grader.grading.store import Store, expect_writable, write
from grader.protocol.job import Job
from grader.protocol.transcript import Transcript
from grader.records.records import UNVERIFIED, ExerciseRecord, StudentRecord, read_student, student_to_json
from grader.submissions.class_folder import Submission
from grader.suite import inventory
from grader.suite.hand_ins import ANSWER
from grader.suite.inventory import Inventory, TestFile
from grader.suite.part import Part, Told, part
from grader.suite.points import priced
from grader.suite.reference import Reference, tried
from grader.suite.running import SuitePool
from grader.suite.suite import Suite
from grader.suite.verdict import verdict, weighed


@dataclass(frozen=True)
class Settings:
    """How to grade: where results go, submissions at a time, confined or not."""

    out: Path
    jobs: int
    confined: bool

    @property
    def address(self) -> str:
        """What all verdicts depend on."""
        return f"{cache_key.versions()}:{cache_key.grader_digest('suite')}:{self.confined}"


def grade(
    submissions: Sequence[Submission],
    suite: Suite,
    reference: Reference,
    settings: Settings,
    progress: Progress = silent,
) -> tuple[list[StudentRecord], Inventory]:
    """Run the suite on every submission and write `results/<student>.json` for each.

    Raises:
        KataError: the suite cannot be collected, there is no sandbox, or results cannot be written. What was
            judged is kept.
    """
    expect_writable(settings.out)
    inventory.expect_only(settings.out, suite.folder)
    store = Store(settings.out)
    answers = list(dict.fromkeys(s.answers[ANSWER] for s in submissions if ANSWER in s.answers))
    digest = _digest(settings.address, suite.digest(), str(reference.is_solution), reference.packed)
    known = inventory.kept(settings.out)
    addresses = None if known is None or known.digest != digest else _Addresses(suite, known, settings)
    if addresses is None or _unknown(addresses, answers, store):
        with SuitePool(suite, reference.files, jobs=settings.jobs, confined=settings.confined) as pool:
            if addresses is None:
                addresses = _Addresses(suite, tried(pool, suite, reference, digest), settings)
            missing = _unknown(addresses, answers, store)
            for done, (job, found) in enumerate(pool.judge(missing), start=1):
                _keep(addresses, job, found, store)
                progress(done, len(missing))
    write(settings.out / inventory.FILE, addresses.tests.to_json())
    edition = edition_of(suite)
    records = [_student(s, addresses, store, settings.out, edition) for s in submissions]
    for record in records:
        write(settings.out / f"{record.student}.json", student_to_json(record))
    return records, addresses.tests


class _Addresses:
    """Where the verdict of each file of tests on each submission is kept.

    Raises:
        KataError: the suite's settings name a test that there is not.
    """

    def __init__(self, suite: Suite, tests: Inventory, settings: Settings) -> None:
        self.tests = priced(tests, suite)
        self.seconds = suite.settings.seconds
        beside = suite.digest([file.path for file in tests.files])
        self._of = {
            f.path: _digest(settings.address, beside, suite.files[f.path], repr((f.path, f.checks)))
            for f in tests.files
        }

    def of(self, file: TestFile, answer: bytes) -> str:
        return _digest(self._of[file.path], answer)


def _unknown(addresses: _Addresses, answers: Sequence[bytes], store: Store) -> list[Part]:
    """What is still to be judged: for each submission, the files of tests without a verdict."""
    tests = addresses.tests
    missing = {
        answer: [file for file in tests.files if store.get(addresses.of(file, answer)) is None]
        for answer in answers
    }
    return [part(tests, files, answer, addresses.seconds) for answer, files in missing.items() if files]


def _keep(addresses: _Addresses, job: Job, found: Transcript, store: Store) -> None:
    assert isinstance(job, Part) and isinstance(found, Told)
    for file in job.files:
        record = verdict(addresses.tests.catalog.exercise(file.slug), file, found.files[file.path])
        key = addresses.of(file, job.answer)
        if record.status == "grader_fault":  # the next run may do better
            store.unjudged[key] = record
        else:
            store.put(key, record)


def edition_of(suite: Suite) -> int:
    """What records have where those of exercises have the seed: by what they were judged."""
    return int(suite.digest()[:8], 16)


def judged_by_others(results: Path, suite: Suite, judged: Sequence[StudentRecord]) -> list[str]:
    """The students in a folder of results, beside those just judged, who were judged by another suite."""
    now = {f"{record.student}.json" for record in judged}
    earlier = (read_student(file) for file in sorted(results.glob("[!.]*.json")) if file.name not in now)
    edition = edition_of(suite)
    return [record.student for record in earlier if record and record.seed != edition]


def _student(
    submission: Submission, addresses: _Addresses, store: Store, out: Path, edition: int
) -> StudentRecord:
    earlier = read_student(out / f"{submission.student}.json") if submission.kept else None
    if earlier is not None:
        return earlier
    answer, problem = submission.answers.get(ANSWER), submission.problems.get(ANSWER)
    found: dict[str, ExerciseRecord] = {}
    tests = addresses.tests
    for exercise, file in zip(tests.catalog.exercises, tests.files, strict=True):
        if problem is not None:
            found[file.slug] = unreadable(exercise, problem)
        elif answer is None:
            found[file.slug] = untouched(exercise)
        else:
            key = addresses.of(file, answer)
            found[file.slug] = weighed(store.get(key) or store.unjudged[key], file)
    notes = submission.notes if answer is None else (*submission.notes, UNVERIFIED)
    return StudentRecord(submission.student, edition, found, notes)


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for each in parts:
        content = each.encode() if isinstance(each, str) else each
        digest.update(f"{len(content)}:".encode() + content)
    return digest.hexdigest()
