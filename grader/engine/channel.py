"""One job on the way to a worker of the engine, and what comes back.

Nothing here trusts what a child writes. What it finds arrives as JSON lines on a socket of their own, capped
in bytes: a pipe could be opened again in /proc, and read by who is to write to it. How a child ended arrives
from the worker.
"""

import json
import os
import secrets
import select
import socket
import tempfile
import time
from dataclasses import replace
from typing import IO, Any

from grader.course.exercise import SLOW_SECONDS
from grader.protocol import transcript
from grader.protocol.job import Job
from grader.protocol.lines import parsed
from grader.protocol.transcript import GARBLED, MOST_LINES, ORACLES, TOO_LARGE, Ended, Transcript

MOST_BYTES = 8 << 20
"""What one child may write about its answer."""

MOST_LINE = 128 << 10
"""Bytes of any line but the oracle's: two texts of 4000 characters, each of which may take twelve."""

MOST_VALUES = 100_000
"""Numbers, texts and containers in what an oracle returned: one byte of it can become fifty here."""

DRAIN_EVERY = 20
"""Milliseconds between two looks at what a child has written; when the socket is full, it waits as long."""

GONE = "the engine is gone"
"""So begins what is told of an answer whose engine ended; another one may judge it."""

GRACE = 8.0
"""Seconds beyond a job's limit after which a worker that has not answered counts as lost."""


def ask(channel: socket.socket, job: Job) -> Transcript:
    """Send one answer to a worker and read until the child has ended."""
    reader, writer = socket.socketpair()
    mark = secrets.token_hex(8)
    try:
        with _scratch() as answer:
            answer.write(job.answer)
            answer.flush()
            os.lseek(answer.fileno(), 0, os.SEEK_SET)
            told = json.dumps({"mark": mark, **job.told()}).encode()
            socket.send_fds(channel, [told], [answer.fileno(), writer.fileno()])
    except OSError as error:
        reader.close()
        return transcript.lost(f"{GONE} ({error.strerror})")
    finally:
        writer.close()
    try:
        most = job.exercise.seconds + SLOW_SECONDS + GRACE
        return _read(channel, reader.fileno(), mark.encode(), time.monotonic() + most)
    finally:
        reader.close()


def _scratch() -> IO[bytes]:
    """A file that is nowhere on disk, where the system has such."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("answer"), "w+b")
    return tempfile.TemporaryFile()


def _read(channel: socket.socket, reader: int, mark: bytes, deadline: float) -> Transcript:
    os.set_blocking(reader, False)
    written = bytearray()
    waiting = select.poll()
    waiting.register(channel, select.POLLIN)
    more = False
    while True:
        # Not for what is written: to wake up at every line takes time from the child that writes it.
        ended = waiting.poll(0 if more else DRAIN_EVERY)
        more = _drain(reader, written)
        if ended:
            try:
                reply = channel.recv(65536)
            except OSError:  # it ended before it had read what it was sent
                reply = b""
            if not reply:
                return transcript.lost(GONE)
            ending = _about(mark, reply)
            if ending is None:
                continue
            while more:
                more = _drain(reader, written)
            overflow = len(written) >= MOST_BYTES
            return transcript.read(_lines(written, mark), replace(ending, overflow=overflow))
        if time.monotonic() >= deadline:
            return transcript.lost("a worker did not answer in time")


def _about(mark: bytes, reply: bytes) -> Ended | None:
    """How this job's child ended, or its worker; None where a worker speaks of a job given up for lost."""
    endings: list[dict[str, Any]] = [json.loads(line) for line in reply.splitlines()]
    return next((Ended(**ending) for ending in endings if ending.pop("mark").encode() in (mark, b"")), None)


def _drain(reader: int, written: bytearray) -> bool:
    """Read what there is, keeping no more than `MOST_BYTES`; whether there may be more."""
    try:
        piece = os.read(reader, 1 << 20)
    except BlockingIOError:
        return False
    written += piece[: MOST_BYTES - len(written)]
    return bool(piece)


def _lines(written: bytearray, mark: bytes) -> tuple[dict[str, Any], ...]:
    """What a child told. Lines that lack this job's mark were written by somebody who did not know it."""
    # One more than a verdict looks at, which tells that there were too many.
    *lines, rest = written.split(b"\n", MOST_LINES + 1)
    oracles, room = tuple(mark + start for start in _ORACLES), MOST_VALUES
    found = []
    for line in (*lines, *filter(None, [rest])):
        if line.startswith(oracles):
            room -= sum(map(line.count, _STARTS))
            data = parsed(line.removeprefix(mark)) if room >= 0 else TOO_LARGE
        else:
            is_ours = line.startswith(mark) and len(line) <= MOST_LINE
            data = _flat(parsed(line.removeprefix(mark))) if is_ours else None
        found.append(data if isinstance(data, dict) else GARBLED)
    return tuple(found)


_ORACLES = tuple(f'{{"{name}{what}":'.encode() for name in ORACLES for what in ("", "_cases"))
_STARTS = (b",", b"[", b"{", b":")
"""One of them stands before every value but the outermost."""


def _flat(data: Any) -> dict[str, Any] | None:
    """A line of texts and numbers, but for its feedback, which is read with care; None for any other."""
    if not isinstance(data, dict):
        return None
    is_deep = any(isinstance(value, (dict, list)) for name, value in data.items() if name != "feedback")
    return None if is_deep else data
