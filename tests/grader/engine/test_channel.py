"""What a worker says, and what a child writes, with nobody real at the other end."""

import json
import os
import socket
import threading
import tracemalloc

import pytest

from grader.course.catalog import load
from grader.engine import channel
from grader.engine.channel import MOST_BYTES, MOST_LINE, MOST_VALUES
from grader.protocol.check import Finding
from grader.protocol.feedback import Feedback
from grader.protocol.job import Job
from grader.protocol.transcript import GARBLED, MOST_LINES, TOO_LARGE

JOB = Job(load().exercise("merge_heads"), b"", 0)
ENDED = {"exit": 0, "signal": 0, "timed_out": False, "lost": ""}


@pytest.fixture
def sockets():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def asked(sockets, *replies, write=b""):
    """What is found by who asks a worker that gives these replies; "MARK" stands for the job's mark."""
    ours, theirs = sockets

    def work():
        message, fds, _, _ = socket.recv_fds(theirs, 65536, 2)
        mark = json.loads(message)["mark"]
        os.write(fds[1], write.replace(b"MARK", mark.encode()))
        for fd in fds:
            os.close(fd)
        for reply in replies:
            theirs.sendall(json.dumps(reply).replace("MARK", mark).encode() + b"\n")

    worker = threading.Thread(target=work)
    worker.start()
    found = channel.ask(ours, JOB)
    worker.join()
    return found


def told(*lines):
    """What a child writes to tell this."""
    return "".join(f"MARK{json.dumps(line)}\n" for line in lines).encode()


def test_a_late_word_about_another_job_is_passed_over(sockets):
    late, right = {"mark": "another", **ENDED, "signal": 9}, {"mark": "MARK", **ENDED, "exit": 3}
    found = asked(sockets, late, right, write=b'MARK{"done": true}\n')
    assert (found.ended.exit, found.ended.signal, found.last_word) == (3, 0, "done")


def lines(written):
    return channel._lines(bytearray(written), b"MARK")


def test_lines_without_the_mark_are_garbled(sockets):
    written = b'{"done": true}\nMARK[1]\nMARK{\nMARK{"a": 1}'
    assert lines(written) == (GARBLED,) * 3 + ({"a": 1},)
    found = asked(sockets, {"mark": "MARK", **ENDED}, write=written)
    assert (found.forged, found.last_word) == ("wrote to the channel that carries results", "")


def test_of_a_flood_of_lines_no_more_are_read_than_a_verdict_looks_at():
    found = lines(b"\n" * 40_000)
    assert len(found) == MOST_LINES + 2
    assert all("garbled" in line for line in found)


def test_lines_hold_a_few_words_and_no_more(sockets):
    long = "\U0001f600" * 4000
    texts = {"feedback": Feedback(long).to_json(), "printed": long, "check": "a", "seconds": 0.5}
    wrong = [{"message": []}, {"message": {}}, {str(n): n for n in range(17)}, {"message": "a" * MOST_LINE}]
    assert lines(told(texts, *wrong)) == (texts, *(GARBLED,) * 4)
    found = asked(sockets, {"mark": "MARK", **ENDED}, write=told({**texts, "outcome": "passed"}))
    assert found.checks["a"] == Finding("passed", Feedback(long), printed=long, seconds=0.5)


def test_numbers_and_objects_are_as_small_as_we_write_them(sockets):
    """To read a whole number takes the square of its digits; keys of an object can be made to collide."""
    keys = ", ".join(f'"{n}": 0' for n in range(17))
    for wrong in ("9" * 41, f"{{{keys}}}", "[" * 5000):
        assert (
            lines(f'MARK{{"oracle": ["l", [{wrong}]]}}\nMARK{{"seconds": {wrong}}}\n'.encode())
            == (GARBLED,) * 2
        )
    assert lines(b'MARK{"oracle": ["l", [' + b"9" * 40 + b"]]}") == ({"oracle": ["l", [int("9" * 40)]]},)


def test_an_oracle_s_result_is_large_in_bytes_or_not_at_all(sockets):
    tensor = {"oracle": ["l", [["t", "uint8", [MOST_LINE], "A" * MOST_LINE]]]}
    many = {"oracle": [0] * MOST_VALUES}
    assert lines(told(tensor, many, {"done": True})) == (tensor, TOO_LARGE, {"done": True})
    found = asked(sockets, {"mark": "MARK", **ENDED}, write=told(tensor))
    assert found.oracle == tensor["oracle"]
    found = asked(sockets, {"mark": "MARK", **ENDED}, write=told(many))
    assert (found.oracle, found.oracle_error) == (None, TOO_LARGE["oracle_error"])


def test_what_is_made_of_a_flood_of_values_is_bounded(sockets):
    written = bytearray(b'MARK{"oracle": [[' + b"],[" * (MOST_BYTES // 3))
    written += b"]]}\n" + b'MARK{"oracle": [[' + b"],[" * 40_000 + b"]]}\n"  # the first has used up the room
    tracemalloc.start()
    try:
        found = channel._lines(written, b"MARK")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == (TOO_LARGE, TOO_LARGE)
    assert most < 2 * MOST_BYTES, "made of bytes alone; of the values it would be twenty times as much"


def test_a_worker_that_is_gone_is_told(sockets):
    sockets[1].close()
    assert "the engine is gone" in channel.ask(sockets[0], JOB).ended.lost
