"""Whoever learns imports nothing of the classroom."""

import subprocess
import sys

import pytest

from tests.grader.support.clone import SOLUTION, Clone

DOING = """
import sys
sys.argv[1:] = {words}
try:
    {run}
finally:
    print(*(name for name in sys.modules if name.startswith("grader.classroom")), file=sys.stderr)
"""
KATA = "from grader.cli import main; main()"
PYTEST = "import pytest; assert pytest.main() == 0"


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    clone.add("double", stub=SOLUTION)
    return clone


def classroom(clone, run, *words):
    """What of the classroom is imported once this is done."""
    command = [sys.executable, "-c", DOING.format(words=[*words], run=run)]
    done = subprocess.run(command, cwd=clone.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr.split("\n")[-2].split()


@pytest.mark.parametrize("words", [[], ["list"], ["find", "mul"], ["hint", "double"]])
def test_a_learners_verb_imports_nothing_of_it(clone, words):
    assert classroom(clone, KATA, *words) == []


def test_judging_imports_nothing_of_it(clone):
    assert classroom(clone, PYTEST, "-q", "-k", "double") == []


def test_an_instructors_verb_imports_it(clone):
    assert "grader.classroom.cli.instructor_verbs" in classroom(clone, KATA, "grade", "--help")
