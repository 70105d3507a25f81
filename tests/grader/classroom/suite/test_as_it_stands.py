"""A suite that uses what suites use is judged as pytest alone would: nothing has to be changed for us."""

import pytest

from tests.grader.classroom.suite.courses import grade, lay, outcomes

SETTINGS = """
[tool.pytest.ini_options]
log_cli = true
addopts = "-s --cov=pkg -n 4"
markers = ["slow: takes time"]
filterwarnings = ["error::UserWarning"]
pythonpath = ["src"]
"""
CONFTEST = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--runslow", action="store_true", default=False)

def pytest_collection_modifyitems(config, items):
    for item in items:
        if "slow" in item.keywords and not config.getoption("--runslow"):
            item.add_marker(pytest.mark.skip(reason="need --runslow"))
    items.reverse()

def pytest_generate_tests(metafunc):
    if "word" in metafunc.fixturenames:
        metafunc.parametrize("word", ["a::b", "[x]", "c d/e"])

@pytest.fixture(scope="session")
def ten():
    return list(range(10))
"""
TESTS = '''
import logging
import os
import subprocess
import sys
import unittest
import warnings

import pytest
from helpers import same
from pkg.model import following


class TestUnit(unittest.TestCase):
    def setUp(self):
        self.two = following(1)

    def test_two(self):
        self.assertEqual(self.two, 2)


def test_word(word):
    """One more than a word is long."""
    assert following(len(word)) == len(word) + 1


@pytest.mark.slow
def test_slow():
    assert 0


@pytest.mark.xfail
def test_known():
    assert following(0) == 5


def test_printed(capsys):
    print(following(1))
    assert capsys.readouterr().out == "2\\n"


def test_written(capfd):
    os.write(1, b"hi")
    assert capfd.readouterr().out == "hi"


def test_logged(caplog):
    logging.getLogger("x").warning("oops")
    assert "oops" in caplog.text


def test_file(tmp_path, monkeypatch, ten):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text(str(following(ten[1])))
    same(open("x").read(), "2")


def test_process():
    call = [sys.executable, "-c", "from pkg.model import following; print(following(1))"]
    assert subprocess.run(call, capture_output=True, text=True).stdout == "2\\n"


def test_warning():
    if following(1) != 2:
        warnings.warn("an error, by the settings")
'''
RIGHT = "def following(x):\n    return x + 1\n"
WRONG = "def following(x):\n    return x + two()\n\n\ndef two():\n    return 2\n"
BROKEN = "def following(x):\n    return table[x]\n\n\ntable = {0: 5}\n"


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    home = tmp_path_factory.mktemp("course")
    texts = {
        "hw/pyproject.toml": SETTINGS,
        "hw/tests/conftest.py": CONFTEST,
        "hw/tests/helpers.py": "def same(a, b):\n    assert a == b\n",
        "hw/tests/deep/test_all.py": TESTS.replace("from helpers", "from ..helpers"),
        "hw/tests/__init__.py": "",
        "hw/tests/deep/__init__.py": "",
        "hw/src/pkg/__init__.py": "",
        "hw/src/pkg/model.py": RIGHT,
    }
    for student, text in (("ada", RIGHT), ("bob", WRONG), ("cyn", BROKEN)):
        texts[f"class/{student}/src/pkg/__init__.py"] = ""
        texts[f"class/{student}/src/pkg/model.py"] = text
    return grade(lay(home, texts), solution="hw")[0]


def test_what_is_right_passes(records):
    found = outcomes(records["ada"])
    assert {id for id, outcome in found.items() if outcome != "passed"} == {"test_slow", "test_known"}
    assert found["test_slow"] == found["test_known"] == "not_graded"
    assert {"TestUnit::test_two", "test_word[a::b]", "test_word[[x]]", "test_word[c d/e]"} <= found.keys()
    assert records["ada"].score == records["ada"].points == 10


def test_what_is_wrong_fails_where_it_is_looked_at(records):
    found = outcomes(records["bob"])
    assert {id for id, outcome in found.items() if outcome == "passed"} == {"test_written", "test_logged"}
    messages = {check.id: check.message for check in records["bob"].exercises["all"].checks}
    assert messages["test_warning"].startswith("raised UserWarning: an error, by the settings")
    assert messages["test_file"].startswith("assert '3' == '2'")
    assert "tests/deep/test_all.py" in messages["test_file"]


def test_an_error_is_told_at_the_students_line(records):
    messages = {check.id: check.message for check in records["cyn"].exercises["all"].checks}
    assert messages["TestUnit::test_two"] == "raised KeyError: 1\n  src/pkg/model.py:2   return table[x]"
