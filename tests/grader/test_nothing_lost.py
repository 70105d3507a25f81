"""Faults put in the grader's way: no wrong score is written, each is told in a line, and nothing is lost."""

import errno
import json
import time

import pytest

from grader import grade, results
from grader.catalog import load
from grader.errors import KataError
from grader.submissions import Submission

EXERCISES = (load().exercise("merge_heads"),)
SOLUTION = EXERCISES[0].file("solutions").read_bytes()
CLASS = [
    Submission(name, {"merge_heads": SOLUTION + f"\n# {name}".encode()}, {}) for name in ("ada", "bob", "cy")
]


def run(out, seed=0):
    return grade.grade(CLASS, EXERCISES, grade.Settings(out, seed, 2, False))


def read(out):
    found = {file.name: json.loads(file.read_text()) for file in sorted(out.glob("*.json"))}
    for record in found.values():
        for check in record["exercises"]["merge_heads"]["checks"]:
            check["seconds"] = 0
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    run(out)
    return read(out)


@pytest.mark.parametrize("number", [1, 5])
def test_a_disk_that_is_full_at_a_verdict_or_a_record(tmp_path, undisturbed, monkeypatch, number):
    calls = []

    def full(path, data):
        calls.append(path)
        if len(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        results.write_json(path, data)

    monkeypatch.setattr(grade, "write_json", full)
    with pytest.raises(KataError, match="No space left on device; mend that and run again"):
        run(tmp_path)
    assert all(read(tmp_path)[name] == undisturbed[name] for name in read(tmp_path))
    monkeypatch.undo()
    run(tmp_path)
    assert read(tmp_path) == undisturbed


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: '{"status": "passed"}',
    ],
    ids=["cut short", "empty", "a list", "half a record"],
)
def test_a_damaged_verdict_is_judged_again(tmp_path, undisturbed, damage):
    run(tmp_path)
    for file in (tmp_path / ".judged").rglob("*.json"):
        file.write_text(damage(file.read_text()))
    run(tmp_path)
    assert read(tmp_path) == undisturbed


def test_a_clock_that_jumps(tmp_path, undisturbed, monkeypatch):
    jumps = iter([0, 1e9, -1e9] * 10_000)
    monkeypatch.setattr(time, "time", lambda: 1.7e9 + next(jumps))
    run(tmp_path)
    assert read(tmp_path) == undisturbed


def test_verdicts_that_vanish_during_the_run(tmp_path, undisturbed, monkeypatch):
    def vanishing(path, data):
        results.write_json(path, data)
        if path.parent != tmp_path:
            path.unlink()

    monkeypatch.setattr(grade, "write_json", vanishing)
    run(tmp_path)
    assert read(tmp_path) == undisturbed
