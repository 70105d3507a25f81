"""What a neighbour may have brought about is told from what is an answer's own doing."""

import pytest

from grader.engine.neighbours import may_have_caused
from grader.protocol.check import Finding
from grader.protocol.feedback import Fact, Feedback
from grader.protocol.transcript import Ended, Transcript


def failing(text):
    return {"a": Finding("passed"), "b": Finding("failed", Feedback("your code raised", (Fact("", text),)))}


def raising(text):
    return ["d", [["rows", ["i", "3"]], ["columns", ["e", text]]]]


BROKEN = Feedback("the file does not import", (Fact("", "BlockingIOError: [Errno 11] try again"),))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Transcript(last_word="done"), False),
        (Transcript(), True),
        (Transcript(forged="wrote to the channel that carries results"), False),
        (Transcript(last_word="done", memory=True), True),
        (Transcript(ended=Ended(signal=9, timed_out=True, waited=0.4)), False),
        (Transcript(ended=Ended(signal=9, timed_out=True, waited=8.0)), True),
        (Transcript(last_word="stopped", ended=Ended(waited=8.0)), True),
        (Transcript(oracle_error="TooSlow: still running", last_word="done", ended=Ended(waited=8.0)), True),
        (Transcript(last_word="done", ended=Ended(waited=8.0)), False),
        (
            Transcript(failing("RuntimeError: shape '[2]' is invalid for input of size 3"), last_word="done"),
            False,
        ),
        (Transcript(failing("EOFError"), last_word="done"), True),
        (Transcript(failing("RuntimeError: DataLoader worker (pid 3) exited"), last_word="done"), True),
        (Transcript(failing("OSError: [Errno 109] Too many references"), last_word="done"), True),
        (
            Transcript(failing("RuntimeError: unable to open: Too many open files (24)"), last_word="done"),
            True,
        ),
        (Transcript(oracle=raising("ValueError: no rows"), last_word="done"), False),
        (Transcript(oracle=raising("RuntimeError: can't start new thread"), last_word="done"), True),
        (Transcript(fine_oracle=raising("TimeoutError"), last_word="done"), True),
        (Transcript(oracle=["d", [7, ["rows"], ["rows", ["e", 7]]]], last_word="done"), False),
        (Transcript(oracle_error="ConnectionResetError", last_word="done"), True),
        (Transcript(last_word="broken", broken=BROKEN), True),
        (Transcript(last_word="broken", broken=Feedback("SyntaxError")), False),
    ],
)
def test_what_a_neighbour_may_have_caused(found, expected):
    assert may_have_caused(found) == expected
