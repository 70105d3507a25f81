"""A module that does not end while it is imported costs the files of tests that need it, and no others."""

import pytest

from tests.grader.classroom.suite.courses import grade, lay, outcomes

SUITE = {
    "hw/tests/suite.toml": "seconds = 1\n",
    "hw/tests/test_a.py": "from pkg.core import right\n\n\ndef test_a():\n    assert right(1)\n",
    "hw/tests/test_b.py": "from pkg.model import right\n\n\ndef test_b():\n    assert right(1)\n",
    "hw/tests/test_c.py": "from pkg.other import right\n\n\ndef test_c():\n    assert right(1)\n",
    "hw/pkg/__init__.py": "",
    "hw/pkg/core.py": "from pkg.model import right\n",
    "hw/pkg/model.py": "def right(x):\n    return x\n",
    "hw/pkg/other.py": "def right(x):\n    return x\n",
}
CLASS = {
    "ada": "def right(x):\n    return x\n\n\nwhile True:\n    pass\n",
    "bob": "sum(range(10**15))\n",  # listens to no alarm
    "cyn": "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n",
}
AROUND = "from pkg.model import right\n\n\ndef pytest_configure():\n    right(1)\n"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    home = tmp_path_factory.mktemp("course")
    hand_ins = {f"class/{student}/pkg/model.py": text for student, text in CLASS.items()}
    records, _ = grade(lay(home, {**SUITE, **hand_ins}), handout="hw")
    lay(home, {"hw/tests/conftest.py": AROUND})
    around, _ = grade(home, handout="hw", results=home / "around")
    return records, around


@pytest.mark.parametrize("student", CLASS)
def test_what_needs_it_is_told_and_the_rest_is_judged(records, student):
    found = records[0][student]
    assert {slug: e.status for slug, e in found.exercises.items()} == dict(
        a="timeout", b="timeout", c="passed"
    )
    assert outcomes(found) == {"test_a": "missing", "test_b": "missing", "test_c": "passed"}


def test_it_is_named(records):
    (flag,) = records[0]["ada"].exercises["b"].flags
    assert flag == "still importing after its time: an endless loop?"
    (check,) = records[0]["ada"].exercises["a"].checks
    assert "pkg/model.py:5" in check.message or "pkg/model.py:6" in check.message


@pytest.mark.parametrize("student", CLASS)
def test_it_is_told_where_a_conftest_needs_it(records, student):
    assert {e.status for e in records[1][student].exercises.values()} == {"timeout"}
