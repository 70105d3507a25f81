"""Submissions to results, by a suite: what is known already is not judged again.

A verdict is kept under the address of what it depends on: the student's files, the file of tests and all that
the suite brings beside tests, what the reference makes of them, the grader, torch and pytest. Not on points.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.grading.store import Store, expect_writable, write
from grader.classroom.submissions.class_folder import Submission
from grader.classroom.suite import inventory
from grader.classroom.suite.everybody import faults
from grader.classroom.suite.hand_ins import ANSWER
from grader.classroom.suite.inventory import Inventory, TestFile
from grader.classroom.suite.part import Part, SuiteTranscript, part
from grader.classroom.suite.points import priced
from grader.classroom.suite.reference import SuiteReference, tried
from grader.classroom.suite.running import SuitePool
from grader.classroom.suite.suite import Suite
from grader.classroom.suite.verdict import verdict, weighed
from grader.core.progress_bar import Progress, silent
from grader.protocol.job import Job
from grader.protocol.transcript import Transcript
from grader.records.log import Log
from grader.records.records import (
    UNVERIFIED,
    ExerciseRecord,
    StudentRecord,
    others,
    read_student,
    student_to_json,
)
from grader.verdict import cache_key
from grader.verdict.score import unreadable, untouched


@dataclass(frozen=True)
class SuiteGrading:
    """How to grade: where results go, submissions at a time, confined or not."""

    out: Path
    jobs: int
    confined: bool

    @property
    def by(self) -> dict[str, str]:
        """What all verdicts depend on."""
        digest, sandbox = cache_key.grader_digest("classroom/suite"), "on" if self.confined else "off"
        return {"torch": cache_key.versions(), "grader": digest, "sandbox": sandbox}

    @property
    def address(self) -> str:
        """The same as one text."""
        return ":".join(self.by.values())


def grade(
    submissions: Sequence[Submission],
    suite: Suite,
    reference: SuiteReference,
    settings: SuiteGrading,
    progress: Progress = silent,
    log: Log | None = None,
) -> tuple[list[StudentRecord], Inventory]:
    """Run the suite on every submission, write `results/<student>.json` for each, and note in the `log` what
    changed.

    Raises:
        KataError: the suite cannot be collected, there is no sandbox, or results cannot be written. What was
            judged is kept.
    """
    expect_writable(settings.out)
    log = log or Log(settings.out)
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
    if not reference.is_solution:
        addresses.tests = priced(_excusing(addresses, answers, store), suite)
    write(settings.out / inventory.FILE, addresses.tests.to_json())
    edition = edition_of(suite)
    records = []
    for submission in submissions:
        earlier = read_student(settings.out / f"{submission.student}.json")
        records.append(_student(submission, addresses, store, earlier, edition))
        log.judged(earlier, records[-1])
    log.keep()
    for record in records:
        write(settings.out / f"{record.student}.json", student_to_json(record))
    return records, addresses.tests


class _Addresses:
    """Where the verdict of each file of tests on each submission is kept.

    Raises:
        KataError: the suite's settings name a test that there is not.
    """

    def __init__(self, suite: Suite, tests: Inventory, settings: SuiteGrading) -> None:
        self.tests = priced(tests, suite)
        self.by = settings.by
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
    assert isinstance(job, Part) and isinstance(found, SuiteTranscript)
    for file in job.files:
        record = verdict(addresses.tests.catalog.exercise(file.slug), file, found.files[file.path])
        key = addresses.of(file, job.answer)
        if record.status == "grader_fault":  # the next run may do better
            store.unjudged[key] = record
        else:
            store.put(key, record)


def _excusing(addresses: _Addresses, answers: Sequence[bytes], store: Store) -> Inventory:
    """The tests, with why nobody can pass one, where that is so."""

    def judged(file: TestFile) -> list[ExerciseRecord]:
        keys = (addresses.of(file, answer) for answer in answers)
        return [record for record in (store.get(key) or store.unjudged[key] for key in keys)]

    files = (replace(f, faults=faults(f, judged(f))) for f in addresses.tests.files)
    return replace(addresses.tests, files=tuple(files))


def edition_of(suite: Suite) -> int:
    """What records have where those of exercises have the seed: by what they were judged."""
    return int(suite.digest()[:8], 16)


def judged_by_others(results: Path, suite: Suite, judged: Sequence[StudentRecord]) -> list[str]:
    """The students in a folder of results, beside those just judged, who were judged by another suite."""
    edition = edition_of(suite)
    return [record.student for record in others(results, judged) if record.seed != edition]


def _student(
    submission: Submission, addresses: _Addresses, store: Store, earlier: StudentRecord | None, edition: int
) -> StudentRecord:
    if earlier is not None and submission.kept:
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
            judged = weighed(store.get(key) or store.unjudged[key], file)
            parts = {"answer": _digest(answer), **addresses.by, "suite": f"{edition:x}"}
            found[file.slug] = replace(judged, digests=cache_key.short(parts))
    notes = submission.notes if answer is None else (*submission.notes, UNVERIFIED)
    return StudentRecord(submission.student, edition, found, notes)


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for each in parts:
        content = each.encode() if isinstance(each, str) else each
        digest.update(f"{len(content)}:".encode() + content)
    return digest.hexdigest()
