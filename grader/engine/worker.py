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
from typing import Any, NoReturn, Protocol

from grader import sandbox
from grader.core.errors import KataError
from grader.course import paths, sources
from grader.engine.beginning import Beginning
from grader.protocol.job import Job, from_told
from grader.protocol.transcript import Ended, line_of


class Trial(Protocol):
    """What a child does with an answer."""

    def prepare(self, answer: int) -> None:
        """Do all that can be done before the answer, which is read from this descriptor, is imported."""

    def run(self) -> None:
        """Judge the answer."""


class Court(Protocol):
    """What the children of one warm process judge: checks, or the oracle.

    `on_ranks` and `on_device` hold the slugs of exercises whose judging starts ranks or takes the simulated
    device.
    """

    confined: bool
    on_ranks: frozenset[str]
    on_device: frozenset[str]

    def warm_up_for(self, slug: str) -> None:
        """Do once in a worker what its children would each do again."""

    def install_device(self) -> None:
        """Install the simulated device for all children to come."""

    def seconds(self, job: Job) -> float:
        """How long judging may take."""

    def trial(self, job: Job, mark: str, results: int) -> Trial:
        """What a child does about `job`; it writes to the descriptor `results`, each line after `mark`."""


def serve(work: Callable[[socket.socket], None], sockets: list[int]) -> None:
    """Keep one process at `work` per socket until the other side closes them all."""
    workers = {_worker(work, fd): fd for fd in sockets}
    while workers:
        pid, status = os.wait()
        fd = workers.pop(pid, None)
        if fd is not None and status != 0:
            workers[_worker(work, fd)] = fd


def _worker(work: Callable[[socket.socket], None], fd: int) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work(socket.socket(fileno=fd))
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
        packaged = (paths.PACKAGED / name for name in ("tests", "solutions"))  # not the data of projects
        hide = dict.fromkeys([*sources.each("tests"), *packaged])
        self.sandbox: sandbox.Sandbox = (
            sandbox.Confinement(hide=hide) if court.confined else sandbox.Unconfined()
        )
        self._has_device = False
        self._twin: socket.socket | None = None

    def run(self) -> None:
        """Judge what comes, until the other side closes the socket."""
        while True:
            message, fds, _, _ = socket.recv_fds(self.channel, 65536, 2)
            if not message:
                return
            told = json.loads(message)
            mark = told.pop("mark")
            if told["slug"] in self.court.on_device and not self._has_device:
                reply = self._ask_twin(message, fds) or _reply(mark, Ended(lost="a worker was ended"))
            else:
                reply = _reply(mark, self._one(told, mark, *fds))
            self.channel.sendall(reply)

    def _ask_twin(self, message: bytes, fds: list[int]) -> bytes:
        """The twin's reply; nothing where it was ended."""
        self._twin = self._twin or self._fork_twin()
        try:
            socket.send_fds(self._twin, [message], fds)
            reply = self._twin.recv(65536)
        except OSError:
            reply = b""
        for fd in fds:
            os.close(fd)
        if not reply:
            self._twin = None
        return reply

    def _fork_twin(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            try:
                ours.close()
                self.channel = theirs
                self.court.install_device()
                self._has_device = True
                self.run()
            finally:
                os._exit(0)
        theirs.close()
        return ours

    def _one(self, told: dict[str, Any], mark: str, answer: int, results: int) -> Ended:
        beginning = Beginning()
        trouble = ""
        try:
            job = from_told(**told)
            with contextlib.suppress(Exception):  # the child meets it as well, and can tell of it
                self.court.warm_up_for(job.slug)
            # Ranks talk by ports; nobody else does.
            limits = sandbox.Limits(network=job.slug in self.court.on_ranks)
            pid = self.sandbox.fork(limits, keep=(answer, results, beginning.writer))
        except (KataError, OSError) as error:
            pid, trouble = -1, str(error)
        if pid == 0:
            self._judge(job, mark, answer, results, beginning)
        os.close(answer)
        os.close(results)
        # The child's own alarm comes first: it can name the line where an answer hangs.
        ended = Ended() if pid < 0 else Ended(*self.sandbox.wait(pid, self.court.seconds(job) + 2.0))
        lost = beginning.trouble()
        return Ended(lost=trouble or lost) if lost else ended

    def _judge(self, job: Job, mark: str, answer: int, results: int, beginning: Beginning) -> NoReturn:
        try:
            try:
                trial = self.court.trial(job, mark, results)
                trial.prepare(answer)
            except BaseException as error:
                beginning.failed(error)
                os._exit(0)
            beginning.begun()
            try:
                trial.run()
            except Exception as error:
                os.write(results, f"{mark}{json.dumps(line_of(error))}\n".encode())
        finally:
            os._exit(0)


def _reply(mark: str, ended: Ended) -> bytes:
    """A line that says which job it is about: who asked may have given up and asked something else."""
    return json.dumps({"mark": mark, **asdict(ended)}).encode() + b"\n"
