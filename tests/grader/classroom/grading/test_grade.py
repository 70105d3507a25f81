"""A small class, graded in the real sandbox."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.course import paths
from grader.course.catalog import load
from tests.grader.support.timeless import records_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("confines")]

EXERCISE = load().exercise("merge_heads")
SOLUTION = EXERCISE.file("solutions").read_text("utf-8")
COPYING = SOLUTION.replace("side_by_side.reshape", "side_by_side.clone().reshape")
CUT = SOLUTION.replace("x.transpose(1, 2)", "x.detach().transpose(1, 2)")

CLASS = {
    "ada": SOLUTION,
    "bob": COPYING,
    "cy": EXERCISE.file("exercises").read_text("utf-8"),
    "dee": CUT,
    "eve": "import os\nos._exit(0)\n",
    "fay": "def merge_heads(x:\n",
    "gus": SOLUTION + "\nimport torch\ntorch.equal = torch.allclose = lambda *a, **k: True\n",
    "hal": SOLUTION + "\nprint('hello')\nimport warnings\nwarnings.warn('careful')\n",
    "ida": "import ctypes\nctypes.string_at(0)\n",
    "jo": "def merge_heads(x):\n    raise SystemExit(0)\n",
    "=kim, jr": SOLUTION,
}


def hand_in(folder: Path, work: dict[str, str]) -> Path:
    for student, text in work.items():
        file = folder / student / EXERCISE.relative
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder


def command(work: Path, out: Path, *options: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "grader",
        "grade",
        str(work),
        "--out",
        str(out),
        "--only",
        "merge_heads",
        *(() if "--seed" in options else ("--seed", "0")),
        *options,
    ]


def grade(work: Path, out: Path, *options: str) -> dict[str, dict]:
    done = subprocess.run(
        command(work, out, *options), cwd=paths.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return records_of(out)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    return grade(hand_in(folder / "in", CLASS), folder / "out")


@pytest.mark.parametrize(
    ("student", "status"),
    [
        ("ada", "passed"),
        ("bob", "works"),
        ("cy", "todo"),
        ("dee", "partial"),
        ("eve", "crashed"),
        ("fay", "broken"),
        ("gus", "tampered"),
        ("hal", "passed"),
        ("ida", "crashed"),
        ("jo", "failed"),
        ("=kim, jr", "passed"),
    ],
)
def test_every_student_gets_what_is_due(graded, student, status):
    record = graded[student]["exercises"]["merge_heads"]
    assert record["status"] == status
    full, part = {"passed": record["points"]}.get(status, 0.0), status in ("works", "partial")
    assert record["score"] == full or (part and 0 < record["score"] < record["points"])


def test_the_record_has_the_fixed_format(graded):
    record = graded["bob"]
    assert list(record) == ["schema", "student", "seed", "score", "points", "exercises", "notes"]
    exercise = record["exercises"]["merge_heads"]
    assert {"status", "score", "points", "job", "fine", "checks", "flags", "digests"} == set(exercise)
    checks = exercise["checks"]
    assert {"id", "title", "outcome", "message", "seconds", "feedback", "fine"} == set(checks[0])
    failed = [c for c in checks if c["outcome"] == "failed"]
    assert [c["id"] for c in failed] == ["hidden::test_view"]
    assert "copies" in failed[0]["message"]
    assert failed[0]["feedback"]["headline"] == "merge_heads(x) of a transposed view copies"


def test_the_same_file_is_judged_once(tmp_path):
    work = hand_in(tmp_path / "in", dict.fromkeys(("ann", "ben", "cat"), COPYING))
    grade(work, tmp_path / "out")
    assert len(list((tmp_path / "out" / ".judged").rglob("*.json"))) == 1


def test_another_seed_is_another_run_with_the_same_verdict(tmp_path):
    work = hand_in(tmp_path / "in", {"bob": COPYING})
    one, two = grade(work, tmp_path / "1", "--seed", "1"), grade(work, tmp_path / "2", "--seed", "2")
    assert one["bob"]["seed"] != two["bob"]["seed"]
    assert one["bob"]["score"] == two["bob"]["score"]


def test_without_a_sandbox_the_verdicts_are_the_same(tmp_path):
    work = hand_in(tmp_path / "in", {name: CLASS[name] for name in ("ada", "bob", "eve")})
    found = grade(work, tmp_path / "out", "--sandbox", "off")
    assert [r["exercises"]["merge_heads"]["status"] for r in found.values()]
    assert {s: r["exercises"]["merge_heads"]["status"] for s, r in found.items()} == {
        "ada": "passed",
        "bob": "works",
        "eve": "crashed",
    }


def test_a_killed_run_continues_and_ends_the_same(tmp_path):
    answers = {f"s{n:02d}": f"{COPYING if n % 2 else SOLUTION}\n# {n}\n" for n in range(20)}
    work = hand_in(tmp_path / "in", answers)
    undisturbed = grade(work, tmp_path / "whole", "--jobs", "1")

    out = tmp_path / "killed"
    process = subprocess.Popen(
        command(work, out, "--jobs", "1"),
        cwd=paths.ROOT,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not len(list(out.rglob(".judged/*.json"))) >= 3 and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    judged_before = len(list(out.rglob(".judged/*.json")))
    assert judged_before < len(answers), "the run was over before it could be killed"
    assert grade(work, out, "--jobs", "1") == undisturbed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--only", "no_such_slug"], "no exercise is called"),
        (["--out", "/proc/nowhere"], "cannot write results"),
    ],
)
def test_bad_options_get_one_line(tmp_path, options, words):
    work = hand_in(tmp_path / "in", {"ada": SOLUTION})
    done = subprocess.run(
        command(work, tmp_path / "out", *options), cwd=paths.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_bad_submissions_are_told_and_stop_nobody(tmp_path):
    work = hand_in(tmp_path / "in", {"ada": SOLUTION, "=cmd, jr": SOLUTION, "odd": ""})
    (work / "empty").mkdir()
    (work / "odd" / "e01_tensors" / "essay.docx").write_bytes(b"")
    (work / "odd" / EXERCISE.relative).write_bytes(b"x = '\x81'")
    linked = work / "linked" / EXERCISE.relative
    linked.parent.mkdir(parents=True)
    linked.symlink_to("/etc/passwd")
    done = subprocess.run(
        command(work, tmp_path / "out"), cwd=paths.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    for words in ("empty: holds no answers", "essay.docx"):
        assert done.stdout.count(words) == 1, words
    for words in ("is not UTF-8", "is a link"):
        assert [words in line for line in done.stdout.splitlines() if "needs manual grade" in line].count(
            True
        )
    found = {student: record["score"] for student, record in records_of(tmp_path / "out").items()}
    assert found == {"ada": 2, "=cmd, jr": 2, "odd": 0, "empty": 0, "linked": 0}


def test_a_missing_bubblewrap_is_told_and_nothing_is_graded(tmp_path):
    work = hand_in(tmp_path / "in", {"ada": SOLUTION})
    done = subprocess.run(
        command(work, tmp_path / "out"),
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": "/nonexistent"},
    )
    assert done.returncode == 2
    assert "bubblewrap is not installed" in done.stderr
    assert "--sandbox off" in done.stderr
    assert not list((tmp_path / "out").glob("*.json"))
