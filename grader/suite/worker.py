"""A process that forks a child for each submission, and says how the child ended.

Like `grader.engine.worker`, it never holds what a student wrote: only the child reads that. The child says
when a test begins, and has the time of one test until it says so again: whatever hangs ends with it.
"""

import json
import math
import os
import select
import socket
import time
from dataclasses import asdict
from typing import Any, NoReturn

from grader import sandbox
from grader.core.errors import KataError
from grader.engine.beginning import Beginning
from grader.protocol.transcript import Ended, line_of
from grader.sandbox.confinement import LOOK_EVERY
from grader.suite.child import Child
from grader.suite.court import Court
from grader.suite.part import GRACE, IMPORT

_MOST_TOLD = 65536


class Worker:
    """Forks a child for each job that arrives on its socket."""

    def __init__(self, court: Court, channel: socket.socket) -> None:
        self.court = court
        self.channel = channel
        self.sandbox: sandbox.Sandbox = sandbox.Confinement() if court.confined else sandbox.Unconfined()

    def run(self) -> None:
        """Judge what comes, until the other side closes the socket."""
        while True:
            message, fds, _, _ = socket.recv_fds(self.channel, _MOST_TOLD, 2)
            if not message:
                return
            told = json.loads(message)
            mark = told.pop("mark")
            ended = self._one(told, mark, *fds)
            self.channel.sendall(json.dumps({"mark": mark, **asdict(ended)}).encode() + b"\n")

    def _one(self, told: dict[str, Any], mark: str, answer: int, results: int) -> Ended:
        beginning = Beginning()
        beats, beat = os.pipe()
        trouble = ""
        seconds = told["seconds"]
        limits = sandbox.Limits(cpu_seconds=math.ceil(seconds), network=self.court.talks)
        try:
            pid = self.sandbox.fork(limits, keep=(answer, results, beginning.writer, beat))
        except (KataError, OSError) as error:
            pid, trouble = -1, str(error)
        if pid == 0:
            self._judge(
                Child(self.court, told["files"], told["first"], mark, results, beat), answer, beginning
            )
        for descriptor in (answer, results, beat):
            os.close(descriptor)
        ended = Ended() if pid < 0 else self._watch(pid, beats, limits, seconds)
        os.close(beats)
        lost = beginning.trouble()
        return Ended(lost=trouble or lost) if lost else ended

    def _watch(self, pid: int, beats: int, limits: sandbox.Limits, seconds: float) -> Ended:
        """Wait until the child ends; end it where a test takes too long, or all of them do."""
        end = time.monotonic() + seconds
        limit = time.monotonic() + self.court.seconds * IMPORT + GRACE
        watching = select.poll()
        descriptor = os.pidfd_open(pid)
        for each in (beats, descriptor):
            watching.register(each, select.POLLIN)
        try:
            while (now := time.monotonic()) < min(limit, end):
                ready = dict(watching.poll(1000 * min(LOOK_EVERY, min(limit, end) - now)))
                if descriptor in ready:
                    break
                if self.sandbox.processes() > limits.processes:
                    self.sandbox.end(pid)
                    break
                if beats in ready:
                    if os.read(beats, 4096):
                        limit = time.monotonic() + self.court.seconds + GRACE
                    else:  # closed by whoever wants no limit for each
                        watching.unregister(beats)
            else:
                return Ended(*self.sandbox.kill(pid))
            return Ended(*self.sandbox.wait(pid, 5.0))
        finally:
            os.close(descriptor)

    def _judge(self, child: Child, answer: int, beginning: Beginning) -> NoReturn:
        try:
            try:
                child.prepare(answer)
            except BaseException as error:
                beginning.failed(error)
                os._exit(0)
            beginning.begun()
            try:
                child.run()
            except Exception as error:
                child.tell(**line_of(error))
        finally:
            os._exit(0)
