"""Faults put in the grader's way: no wrong score is written, each is told in a line, and nothing is lost.

Answers are judged once; the tests get the same findings again, as the faults lie beyond the engine.
"""

import contextlib
import errno
import json
import os
import signal
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader import cli, sandbox
from grader.classroom.grading import grade, store
from grader.classroom.submissions.class_folder import Submission
from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import load
from grader.engine import backend
from grader.engine.pool import Pool
from grader.protocol.job import Job
from grader.records import log, records
from tests.grader.support.timeless import records_of

pytestmark = pytest.mark.slow

EXERCISE = load().exercise("merge_heads")
SOLUTION = EXERCISE.file("solutions").read_bytes()
CLASS = [
    Submission(name, {"merge_heads": SOLUTION + f"\n# {name}".encode()}, {}) for name in ("ada", "bob", "cy")
]
OPERATIONS = ((tempfile, "mkstemp"), (os, "fdopen"), (os, "fsync"), (Path, "replace"))
"""What writing a file consists of."""


class Told:
    """A judge that tells again what an engine has found."""

    def __init__(self, pool):
        self.inventory = pool.inventory
        jobs = [Job(EXERCISE, s.answers["merge_heads"], 0) for s in CLASS]
        self.found = {job.answer: found for job, found in pool.judge(jobs)}
        self.wanted = pool.reference(Job(EXERCISE, SOLUTION, 0))

    def judge(self, jobs):
        for job in jobs:
            yield job, self.found[job.answer]

    def reference(self, job):
        return self.wanted


@pytest.fixture(scope="module")
def told():
    with Pool((EXERCISE,), jobs=2, confined=False) as pool:
        return Told(pool)


@pytest.fixture
def run(told):
    def run(out):
        judges = lambda exercises: nullcontext(told)  # noqa: E731
        return grade.grade(CLASS, (EXERCISE,), grade.GradingSettings(out, 0, 2, False, judges))

    return run


@pytest.fixture
def undisturbed(run, tmp_path):
    run(tmp_path / "undisturbed")
    found = records_of(tmp_path / "undisturbed")
    assert [record["score"] for record in found.values()] == [2, 2, 2]
    return found


@pytest.mark.parametrize("number", range(1, 7))
def test_a_disk_that_is_full_at_a_verdict_or_a_record(run, tmp_path, undisturbed, monkeypatch, number):
    calls = []

    def full(path, data, **how):
        calls.append(path)
        if len(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        records.write_json(path, data, **how)

    monkeypatch.setattr(store, "write_json", full)
    with pytest.raises(KataError, match="No space left on device; mend that and run again"):
        run(tmp_path)
    assert all(records_of(tmp_path)[name] == undisturbed[name] for name in records_of(tmp_path))
    monkeypatch.undo()
    run(tmp_path)
    assert records_of(tmp_path) == undisturbed


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation[1])
def test_a_disk_that_gets_full_leaves_no_half_of_a_file(tmp_path, monkeypatch, operation):
    owner, name = operation
    file = tmp_path / "record.json"
    records.write_json(file, {"score": 1})

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(owner, name, full)
    with pytest.raises(OSError):
        records.write_json(file, {"score": 2})
    monkeypatch.undo()
    assert json.loads(file.read_text()) == {"score": 1}
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("folder", ["", ".judged"])
def test_results_that_may_not_be_written_are_told_at_once(run, tmp_path, undisturbed, monkeypatch, folder):
    # As root, who may write anywhere, tests cannot take a permission away.
    def refused(*arguments, **options):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(*((tempfile, "mkstemp") if folder else (Path, "write_text")), refused)
    with pytest.raises(KataError, match=r"cannot write .*: Permission denied; (mend|choose)"):
        run(tmp_path / "out")
    monkeypatch.undo()
    run(tmp_path / "out")
    assert records_of(tmp_path / "out") == undisturbed


DAMAGES = {
    "cut short": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "a list": lambda text: "[]",
    "half a record": lambda text: '{"status": "passed"}',
    "zeros": lambda text: "\0" * len(text),
}


@pytest.mark.parametrize("files", [".judged/*.json", "*.json"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_verdict_or_record_is_made_again(run, tmp_path, undisturbed, damage, files):
    out = tmp_path / "out"
    run(out)
    for file in out.glob(files):
        file.write_text(damage(file.read_text()))
    run(out)
    assert records_of(out) == undisturbed


def test_a_run_that_is_killed_anywhere_ends_the_same(run, tmp_path, undisturbed, monkeypatch):
    """Each operation on a file is once the last one; the next run then begins where it was."""
    # A verdict is not forced to the disk, a record is, and so is the log.
    in_all = (2 * len(OPERATIONS) - 1) * len(CLASS) + 1
    for last in range(1, in_all + 1):
        out = tmp_path / f"killed{last}"
        assert killed(last, lambda out=out: run(out)), "the run was over before it could be killed"
        assert all(records_of(out)[name] == undisturbed[name] for name in records_of(out))
        run(out)
        assert records_of(out) == undisturbed
        assert [change.why for change in log.read(out)] == [("first judged",)] * len(CLASS)
    assert not killed(last + 1, lambda: run(tmp_path / "whole"))


def killed(last, work):
    """Do the work in a process that is killed at its n-th operation on a file; False if it has ended."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            done = iter(range(1, last))
            for owner, name in OPERATIONS:
                setattr(owner, name, until_killed(getattr(owner, name), done))
            work()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def until_killed(function, done):
    def called(*arguments, **options):
        if next(done, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)

    return called


def test_a_gradebook_that_cannot_be_written_costs_no_results(told, tmp_path, undisturbed, monkeypatch):
    work = tmp_path / "in"
    for submission in CLASS:
        file = work / submission.student / EXERCISE.relative
        file.parent.mkdir(parents=True)
        file.write_bytes(submission.answers["merge_heads"])
    monkeypatch.setattr(backend, "judge", lambda *arguments, **options: nullcontext(told))
    out, gradebook = tmp_path / "out", tmp_path / "missing" / "gradebook.db"
    options = ["--only", "merge_heads", "--sandbox", "off", "--seed", "0"]
    options += ["--out", str(out), "--gradebook", str(gradebook)]
    done = CliRunner().invoke(cli.app, ["grade", str(work), *options])
    assert isinstance(done.exception, KataError)
    assert "gradebook" in str(done.exception) and "\n" not in str(done.exception)
    assert records_of(out) == undisturbed


def test_verdicts_that_vanish_during_the_run(run, tmp_path, undisturbed, monkeypatch):
    out = tmp_path / "out"

    def vanishing(path, data, **how):
        records.write_json(path, data, **how)
        if path.parent != out:
            path.unlink()

    monkeypatch.setattr(store, "write_json", vanishing)
    run(out)
    assert records_of(out) == undisturbed


JUMPING = """
import itertools, time
now, jumps = time.time, itertools.cycle([0, 1e9, -1e9, 1, -3600])
time.time = lambda: now() + next(jumps)
open(__file__ + ".loaded", "w").close()
"""


def test_a_clock_that_jumps_here_and_in_the_engine(tmp_path, undisturbed, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(JUMPING)
    monkeypatch.setitem(sandbox.ENVIRONMENT, "PYTHONPATH", f"{tmp_path}{os.pathsep}{paths.ROOT}")
    jumps = iter([0, 1e9, -1e9] * 10_000)
    monkeypatch.setattr(time, "time", lambda: 1.7e9 + next(jumps))
    grade.grade(CLASS, (EXERCISE,), grade.GradingSettings(tmp_path / "out", 0, 2, False))
    assert records_of(tmp_path / "out") == undisturbed
    assert (tmp_path / "sitecustomize.py.loaded").exists()
