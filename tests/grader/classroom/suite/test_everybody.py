"""What nobody can pass is told as a fault of the tests, and costs nobody; what nobody has done is not."""

import pytest

from grader.classroom.suite.everybody import faults
from grader.classroom.suite.inventory import TestFile
from grader.protocol.check import CheckSpec
from grader.protocol.feedback import Feedback, Where
from grader.records.records import CheckRecord, ExerciseRecord
from tests.grader.classroom.suite.courses import grade, lay, messages, outcomes

pytestmark = pytest.mark.slow

CONFTEST = """
from pathlib import Path

import pytest


@pytest.fixture
def numbers():
    return (Path(__file__).parent / "numbers.txt").read_text()


@pytest.fixture
def snapshot(request):
    def check(found):
        assert found == (Path(__file__).parent / "snapshots" / request.node.name).read_text()

    return check


@pytest.fixture
def report():
    return Path("report.txt").read_text()


@pytest.fixture
def broken():
    return {}["nobody"]
"""
TESTS = """
from pkg.model import double, save


def test_numbers(numbers):
    assert double(int(numbers)) == 4


def test_snapshot(snapshot):
    snapshot(double(2))


def test_broken(broken):
    assert double(2) == 4


def test_report(report):
    assert report


def test_undone():
    assert double(2).bit_length() == 3


def test_saved(tmp_path):
    save(tmp_path / "x")
    assert (tmp_path / "x").read_text() == "x"


def test_double():
    assert double(2) == 4
"""
STUB = "def double(x): ...\n\n\ndef save(x): ...\n"
RIGHT = STUB.replace("...", "return 2 * x", 1)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    home = tmp_path_factory.mktemp("course")
    texts = {"hw/tests/test_it.py": TESTS, "hw/tests/conftest.py": CONFTEST, "hw/pkg/model.py": STUB}
    texts |= {"class/ada/pkg/model.py": RIGHT, "class/ada/report.txt": "done"}
    texts |= {"class/bob/pkg/model.py": f"\n{RIGHT}", "class/cyn/pkg/model.py": f"# mine\n{STUB}"}
    texts |= {"undone/bob/pkg/model.py": f"# yet\n{STUB}", "undone/cyn/pkg/model.py": f"# mine\n{STUB}"}
    lay(home, texts)
    whole = grade(home, handout="hw")
    again = grade(home, handout="hw", work="undone")
    return whole, again


def test_points_are_shared_by_what_can_be_passed(graded):
    (records, said), _ = graded
    assert {who: (r.score, r.points) for who, r in records.items()} == {
        "ada": (3.0, 4.0),
        "bob": (2.0, 4.0),
        "cyn": (0.0, 4.0),
    }
    for record in records.values():
        found = outcomes(record)
        assert {id for id in found if found[id] == "not_graded"} == {
            "test_numbers",
            "test_snapshot",
            "test_broken",
        }
    told = messages(records["ada"])["test_snapshot"]
    assert told.startswith(
        "fails for everybody outside their code (raised FileNotFoundError: [Errno 2] No such"
    )
    assert "'tests/snapshots/test_snapshot'" in told and "tests/test_it.py:10" in told
    assert (
        "note: graded for nobody, fails for everybody outside their code (raised in the test's setup" in said
    )


def test_what_was_found_of_a_class_holds_for_who_is_graded_alone(graded):
    _, (records, _) = graded
    assert messages(records["bob"])["test_numbers"].startswith("fails for everybody")
    assert outcomes(records["bob"])["test_undone"] == "failed"


WHERE = Where("t/test_a.py", 5)
STOPPED = Feedback("raised OSError: gone", where=WHERE, kind="outside")
BROKEN = Feedback("raised KeyError: 1", where=WHERE)


@pytest.mark.parametrize(
    ("told", "suspect", "is_fault"),
    [
        ([STOPPED, STOPPED], "", True),
        ([STOPPED, STOPPED, Feedback("raised ValueError", where=Where("pkg/model.py", 9))], "", True),
        ([STOPPED, STOPPED, Feedback("assert 1 == 2", where=Where("t/test_a.py", 4))], "", True),
        ([STOPPED, STOPPED, None], "", False),  # who passes
        ([STOPPED], "", False),  # may have brought it about
        ([STOPPED], "raised OSError: gone at t/test_a.py:5", True),
        ([BROKEN, BROKEN], "", False),  # a wrong value may have done it
        ([BROKEN], "raised KeyError: 1 at t/test_a.py:5", True),
        (
            [STOPPED, STOPPED, Feedback("assert 1 == 2", where=Where("t/test_a.py", 6))],
            "",
            False,
        ),  # came past it
        ([STOPPED, Feedback("raised OSError: other", where=WHERE, kind="outside")], "", False),
    ],
)
def test_one_spot_stops_everybody(told, suspect, is_fault):
    file = TestFile("t/test_a.py", "a", (CheckSpec("x", "x"),), suspects={"x": suspect} if suspect else {})
    judged = [
        ExerciseRecord(
            "failed", 0, 1, (CheckRecord("x", "x", "failed" if each else "passed", feedback=each),)
        )
        for each in told
    ]
    assert (faults(file, judged) != {}) == is_fault
