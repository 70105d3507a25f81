"""The sample assignment: each hand-in earns what its README says, and is told why."""

import json
import re

import pytest
from rich.console import Console

from grader.classroom.cli import suite as by_suite
from grader.classroom.cli.options import ClassOptions, SuiteOptions
from grader.course.paths import SOURCE

SAMPLE = SOURCE / "samples" / "assignment1"
TESTS = SAMPLE / "handout" / "tests"
TABLE = (SAMPLE / "README.md").read_text("utf-8")
ROWS = re.findall(r"^\| (\w+) \| [^|]+ \| (\d+)(?:: \*[\w ]+\*)? \|", TABLE, re.M)
STATUSES = {  # of attention, layers and text
    "alma": ("passed", "passed", "passed"),
    "bela": ("passed", "passed", "passed"),
    "carl": ("passed", "partial", "passed"),
    "dina": ("partial", "passed", "partial"),
    "egon": ("todo", "passed", "todo"),
    "fini": ("passed", "passed", "timeout"),
    "gero": ("crashed", "crashed", "crashed"),
    "hugo": ("failed", "partial", "partial"),
    "ines": ("tampered", "tampered", "tampered"),
    "jens": ("broken", "broken", "broken"),
}

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("confines")]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    out = tmp_path_factory.mktemp("sample")
    by_suite.grade(
        ClassOptions(SAMPLE / "submissions", out, jobs=2),
        SuiteOptions(TESTS, [TESTS / "adapters.py"], solution=SAMPLE / "solution"),
        Console(quiet=True),
        Console(quiet=True),
    )
    return {file.stem: json.loads(file.read_text()) for file in out.glob("[!.]*.json")}


def checks(record):
    return {c["id"]: c for e in record["exercises"].values() for c in e["checks"]}


def test_the_readme_tells_of_everybody(graded):
    assert [name for name, _ in ROWS] == sorted(graded) == [*STATUSES, "kora"]


@pytest.mark.parametrize(("student", "score"), ROWS)
def test_a_hand_in_earns_what_the_readme_says(graded, student, score):
    assert graded[student]["score"] == int(score)


@pytest.mark.parametrize("student", STATUSES)
def test_each_file_of_tests_has_its_status(graded, student):
    found = graded[student]["exercises"]
    assert tuple(found[slug]["status"] for slug in ("attention", "layers", "text")) == STATUSES[student]


@pytest.mark.parametrize(
    ("student", "test", "outcome", "says"),
    [
        ("carl", "test_rmsnorm_of_silence", "failed", "nan"),
        ("carl", "test_softmax_of_large_scores", "failed", "test_layers.py:32"),
        ("dina", "test_attention_with_mask", "failed", "Mismatched elements: 48 / 48"),
        ("dina", "test_encode_keeps_all_text", "failed", "'théthingin☃' == 'thé  thing"),
        ("egon", "test_attention", "failed", ""),
        ("fini", "test_train_bpe_of_little_text", "failed", "tinylm/text.py:"),
        ("fini", "test_encode_keeps_all_text", "passed", ""),
        ("hugo", "test_linear", "failed", "Mismatched"),
    ],
)
def test_a_test_says_what_was_wrong(graded, student, test, outcome, says):
    check = checks(graded[student])[test]
    assert (check["outcome"], says in check["message"]) == (outcome, True), check


def test_what_says_nothing_under_pytest_alone_is_told(graded):
    flags = {who: str([e["flags"] for e in graded[who]["exercises"].values()]) for who in graded}
    assert "regexes" in flags["jens"] and "tests/adapters.py" in str(graded["kora"])
    assert "replaces _pytest.python.Function.runtest" in flags["ines"]
    assert "left before" in flags["gero"]
