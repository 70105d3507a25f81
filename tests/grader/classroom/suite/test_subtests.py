"""A test of which a part fails has failed: unittest's subtests, and those of pytest 9."""

import pytest

from tests.grader.classroom.suite.courses import grade, lay, messages, outcomes

pytestmark = pytest.mark.slow

UNIT = """
import unittest
from model import following


class TestAll(unittest.TestCase):
    def test_each(self):
        for n in (1, 2, 3, 4):
            with self.subTest("after", n=n):
                if n == 4:
                    self.skipTest("too large")
                self.assertEqual(following(n), n + 1)

    def test_none(self):
        with self.subTest():
            pass
"""
FIXTURE = """
import pytest
from model import following


def test_each(subtests):
    for n in (1, 2, 3, 4):
        with subtests.test("after", n=n):
            if n == 4:
                pytest.skip("too large")
            assert following(n) == n + 1


def test_then(subtests):
    with subtests.test():
        assert following(1) == 2
    assert following(2) == 3
"""
RIGHT = "def following(n):\n    return n + 1\n"
SECOND = "def following(n):\n    return n + 1 if n != 2 else 0\n"


@pytest.mark.parametrize(
    ("tests", "each"),
    [(UNIT, "TestAll::test_each"), (FIXTURE, "test_each")],
    ids=["unittest", "pytest"],
)
def test_a_test_fails_with_a_part_of_it(tmp_path, tests, each):
    if tests == FIXTURE and not hasattr(pytest, "Subtests"):
        pytest.skip("pytest has subtests from version 9")
    texts = {"hw/tests/test_all.py": tests, "class/ada/model.py": RIGHT, "class/bob/model.py": SECOND}
    records, _ = grade(lay(tmp_path, {**texts, "solution/model.py": RIGHT}), solution="solution")
    right, second = outcomes(records["ada"]), outcomes(records["bob"])
    assert {*right.values()} == {"passed"}
    assert second[each] == "failed"
    told = messages(records["bob"])[each]
    assert "  subtest after, n=2" in told and told.startswith(
        ("assert 0 == (2 + 1)", "raised Assert", "0 != 3")
    )
    assert records["bob"].score == records["bob"].points - sum(o != "passed" for o in second.values())
