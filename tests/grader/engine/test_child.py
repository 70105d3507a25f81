"""What an answer prints is kept in part; what it makes of warnings does not reach the judging."""

import faulthandler
import warnings
from types import SimpleNamespace

import pytest

from grader.core.sanitize import MOST_CHARACTERS
from grader.course.catalog import load
from grader.engine.child import Child
from grader.engine.integrity import canary
from grader.engine.printed import Printed
from grader.protocol.job import Job


@pytest.fixture
def printed():
    return Printed()


def test_the_beginning_is_kept_and_taken_once(printed):
    print("é" * MOST_CHARACTERS, "more", file=printed)
    assert printed.take() == "é" * MOST_CHARACTERS
    print("next", file=printed)
    assert (printed.take(), printed.take()) == ("next\n", "")


def test_bytes_and_surrogates_are_taken(printed):
    printed.buffer.write(b"\xff and ")
    print("\ud800", file=printed)
    assert printed.take() == "\ufffd and \\ud800\n"


def test_it_is_set_up_like_a_terminal(printed):
    printed.reconfigure(encoding="utf-8", errors="strict", line_buffering=True, write_through=False)
    assert (printed.fileno(), printed.isatty(), printed.encoding) == (1, False, "utf-8")
    print("late", end="", file=printed)
    assert printed.take() == "late"


def test_faults_below_python_have_somewhere_to_go(printed):
    faulthandler.dump_traceback(printed)
    assert printed.take() == ""


def test_what_was_printed_before_it_was_closed_is_kept(printed):
    print("early", file=printed)
    printed.close()
    assert printed.take() == "early\n"


def test_judging_goes_on_where_warnings_are_errors(monkeypatch):
    monkeypatch.setattr(canary, "broken", lambda: warnings.warn("old", stacklevel=1))
    child, look = object.__new__(Child), SimpleNamespace(broken=lambda: warnings.warn("old", stacklevel=1))
    child.job = Job(load().exercise("merge_heads"), b"", 0)
    child.judged, child.suites = SimpleNamespace(answers=look), look
    child.guard, child._tell = SimpleNamespace(looks=lambda slug: [look]), None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        child._sings()
        child._lookout()()
