"""What tests draw is the same for the whole class, whatever a student's code draws and settings say."""

import re

import pytest

from tests.grader.classroom.suite.courses import grade, lay, messages

pytestmark = pytest.mark.slow

TESTS = """
import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pkg.model import right

settings.register_profile("wild", derandomize=False, max_examples=30)
settings.load_profile("wild")
AT_IMPORT = random.random()


@pytest.fixture(scope="module")
def shared():
    return torch.rand(()).item()


@pytest.fixture
def each():
    return np.random.rand()


def test_fails_before():
    drawn = random.random()
    right("first")
    assert drawn == 0


def test_drawn(shared, each):
    drawn = [random.random(), np.random.rand(), np.random.default_rng().random(), torch.rand(()).item()]
    right(1)
    raise AssertionError(" ".join(map(str, [AT_IMPORT, shared, each, *drawn])))


@pytest.mark.parametrize("n", [random.randint(0, 10**9)])
def test_n(n):
    assert n == 0


@given(st.lists(st.integers(), max_size=5))
def test_found(numbers):
    right(sum(numbers))
    assert len(numbers) < 3, numbers


@given(st.integers())
def test_constant(number):
    assert number != 987654321987
"""
RIGHT = "def right(x):\n    return x\n"
DRAWS = """
import random, torch

KNOWN = 987654321987
random.random(), torch.rand(3)


def right(x):
    return x, random.random(), torch.rand(3)
"""
EXITS = "import os\n\n\ndef right(x):\n    return os._exit(0) if x == 'first' else x\n"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    home = tmp_path_factory.mktemp("course")
    texts = {"hw/tests/test_it.py": TESTS, "hw/pkg/__init__.py": ""}
    for folder, model in (("hw", RIGHT), ("class/ada", RIGHT), ("class/bob", DRAWS), ("class/cyn", EXITS)):
        texts |= {f"{folder}/pkg/__init__.py": "", f"{folder}/pkg/model.py": model}
    lay(home, texts)
    return [grade(home, handout="hw", results=home / str(run))[0] for run in range(2)]


@pytest.mark.parametrize("student", ["ada", "bob", "cyn"])
def test_everybody_gets_the_same_numbers(runs, student):
    wanted = messages(runs[0]["ada"])
    for run in runs:
        told = messages(run[student])
        if student == "cyn":  # whose first test ends the process
            assert "ended the process" in told.pop("test_fails_before")
        assert told == {id: wanted[id] for id in told} and len(told) >= len(wanted) - 1


def test_numbers_differ_and_a_failing_example_is_found(runs):
    told = messages(runs[0]["ada"])
    drawn = re.findall(r"0\.\d+", told["test_drawn"])
    assert len({*drawn}) == 7, drawn
    assert "[0, 0, 0]" in told["test_found"] and told["test_constant"] == ""
