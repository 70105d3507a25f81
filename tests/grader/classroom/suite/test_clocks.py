"""What fails by a clock is run again, alone, before it counts; what fails by itself is not."""

import pytest

from tests.grader.classroom.suite.courses import grade, lay, outcomes

pytestmark = pytest.mark.slow

TESTS = """
import datetime
import time
import timeit
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pkg.model import name

from helpers import seconds_of


def is_first(test):
    file = Path(r"{runs}") / f"{name()}_{test}"
    is_first = not file.exists()
    file.touch()
    return is_first


LOOKS = [time.time, perf_counter, time.monotonic_ns, lambda: timeit.timeit(name, number=1)]
LOOKS.append(lambda: seconds_of(name))


@pytest.mark.parametrize("look", range(len(LOOKS)))
def test_look(look):
    LOOKS[look]()
    assert name() == "bob" or not is_first(look)


def test_dates():
    begin = datetime.datetime.now()
    assert name() == "bob" or not is_first("dates")


@settings(deadline=50)
@given(st.just(1))
def test_deadline(x):
    if name() != "bob" and is_first("deadline"):
        time.sleep(0.2)


def test_without():
    assert not is_first("without")
"""
HELPERS = """
import time


def seconds_of(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
"""


def test_what_fails_by_a_clock_is_run_again(tmp_path):
    (tmp_path / "runs").mkdir()
    texts = {
        "hw/tests/test_it.py": TESTS.replace("{runs}", str(tmp_path / "runs")),
        "hw/tests/helpers.py": HELPERS,
    }
    for folder in ("hw", "class/ada", "class/bob"):
        texts[f"{folder}/pkg/model.py"] = f"def name():\n    return {folder[-3:]!r}\n"
    records, _ = grade(lay(tmp_path, texts), handout="hw", solution="hw")
    assert {*outcomes(records["ada"]).values()} == {"passed"}
    failed = {id for id, outcome in outcomes(records["bob"]).items() if outcome != "passed"}
    assert failed == {"test_without"}
