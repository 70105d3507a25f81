"""A process that forks one child for each answer, and says how the child ended.

A worker waits for jobs on its socket; each comes with two descriptors, one to read the answer from and one
to write results to. Only the child that judges an answer reads it, so that no later child can find it in
memory that it inherited.
"""

import contextlib
import json
import os
import socket
from collections.abc import Callable
from dataclasses import asdict
from typing import NoReturn

from grader import sandbox
from grader.core.errors import KataError
from grader.engine.beginning import Beginning
from grader.engine.court import GRACE, ChildSpec, Court
from grader.engine.telling import Telling
from grader.protocol.transcript import Ended, line_of


def serve(court: Court, sockets: list[int]) -> None:
    """Keep one worker per socket until the other side closes them all."""
    workers = {_worker(court, fd): fd for fd in sockets}
    while workers:
        pid, status = os.wait()
        fd = workers.pop(pid, None)
        if fd is not None and status != 0:
            with contextlib.suppress(OSError):  # nobody listens any more
                os.write(fd, _reply("", Ended(lost="a worker was ended")))
            workers[_worker(court, fd)] = fd


def _worker(court: Court, fd: int) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            Worker(court, socket.socket(fileno=fd)).run()
            status = 0
        finally:
            os._exit(status)
    return pid


class Worker:
    """Forks a child for each job that arrives on its socket.

    To install the simulated device takes a child 3 ms, and other exercises are judged without it. So a
    twin, in which it is installed, takes the jobs that need it.
    """

    def __init__(self, court: Court, channel: socket.socket) -> None:
        self.court = court
        self.channel = channel
        self.sandbox: sandbox.Sandbox = (
            sandbox.Confinement(hide=court.hidden) if court.confined else sandbox.Unconfined()
        )
        self._is_twin = False
        self._twin: socket.socket | None = None

    def run(self) -> None:
        """Judge what comes, until the other side closes the socket."""
        while True:
            message, fds, _, _ = socket.recv_fds(self.channel, 65536, 2)
            if not message:
                return
            told = json.loads(message)
            mark = told.pop("mark")
            try:
                spec = self.court.spec(told)
            except KataError as error:
                _close(*fds)
                reply = _reply(mark, Ended(lost=str(error)))
            else:
                if spec.apart and not self._is_twin:
                    reply = self._ask_twin(spec.apart, message, fds)
                    reply = reply or _reply(mark, Ended(lost="a worker was ended"))
                else:
                    reply = _reply(mark, self._one(spec, mark, *fds))
            self.channel.sendall(reply)

    def _ask_twin(self, apart: Callable[[], None], message: bytes, fds: list[int]) -> bytes:
        """The twin's reply; nothing where it was ended."""
        self._twin = self._twin or self._fork_twin(apart)
        try:
            socket.send_fds(self._twin, [message], fds)
            reply = self._twin.recv(65536)
        except OSError:
            reply = b""
        _close(*fds)
        if not reply:
            self._twin = None
        return reply

    def _fork_twin(self, apart: Callable[[], None]) -> socket.socket:
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            try:
                ours.close()
                self.channel = theirs
                apart()
                self._is_twin = True
                self.run()
            finally:
                os._exit(0)
        theirs.close()
        return ours

    def _one(self, spec: ChildSpec, mark: str, answer: int, results: int) -> Ended:
        if spec.warm_up:
            with contextlib.suppress(Exception):  # the child meets it as well, and can tell of it
                spec.warm_up()
        beginning = Beginning()
        pulse = sandbox.Pulse(*(due + GRACE for due in spec.pace)) if spec.pace else None
        keep = [answer, results, beginning.writer, *([pulse.writer] if pulse else [])]
        trouble = ""
        try:
            pid = self.sandbox.fork(spec.limits, keep)
        except (KataError, OSError) as error:
            pid, trouble = -1, str(error)
        if pid == 0:
            beat = pulse.beat if pulse else lambda: None
            _judge(spec, Telling.to(results, mark), beat, answer, beginning)
        _close(answer, results)
        ended = Ended() if pid < 0 else Ended(*self.sandbox.wait(pid, spec.seconds + GRACE, pulse))
        if pulse:
            pulse.close()
        lost = beginning.trouble()
        return Ended(lost=trouble or lost) if lost else ended


def _judge(
    spec: ChildSpec, telling: Telling, beat: Callable[[], None], answer: int, begins: Beginning
) -> NoReturn:
    """In the child: judge the answer, and end."""
    try:
        try:
            task = spec.task(telling, beat)
            task.prepare(answer)
        except BaseException as error:
            begins.failed(error)
            os._exit(0)
        begins.begun()
        try:
            task.run()
        except Exception as error:
            telling.tell(**line_of(error))
    finally:
        os._exit(0)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _reply(mark: str, ended: Ended) -> bytes:
    """A line that says which job it is about: who asked may have given up and asked something else.

    Without a mark it is about any: who knew which is gone.
    """
    return json.dumps({"mark": mark, **asdict(ended)}).encode() + b"\n"
