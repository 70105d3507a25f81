"""The warm parent: torch imported and suites collected once, one forked child per answer.

`grader.engine.pool` starts it, with settings such as
    {"sockets": [5, 6], "control": 7, "confined": true, "slugs": ["merge_heads"]}

The parent forks one worker per socket and replaces those that die. A worker waits for jobs on its
socket; each comes with two descriptors, one to read the answer from and one to write results to.
Only the child that judges an answer reads it, so that no later child can find it in memory that it
inherited. The worker itself answers with how the child ended.
"""

import contextlib
import gc
import json
import os
import socket
import sys
import threading
from dataclasses import asdict
from typing import Any, NoReturn

import pytest
import torch

from grader import sandbox
from grader.checks import devices
from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Exercise, load
from grader.engine import collection, hugepages
from grader.engine.beginning import Beginning
from grader.engine.child import Child
from grader.engine.collection import Suites
from grader.engine.integrity.guard import Guard
from grader.engine.preload import warm_up
from grader.plugin import markers
from grader.protocol.job import Job, from_told
from grader.protocol.transcript import Ended, line_of


class Engine:
    """Everything that a child inherits."""

    def __init__(self, exercises: tuple[Exercise, ...], *, confined: bool) -> None:
        if confined:
            sandbox.prepare()
        self.suites: Suites = collection.collect(exercises)
        warm_up(exercises)
        self.guard = Guard(self.suites.modules)
        if confined:  # workers, which cannot read suites, are to find them made
            for slug in self.suites.checks:
                self.suites.oracle(slug)
        self.confined = confined
        self._warm: set[str] = set()
        items = {slug: [check.item for check in found] for slug, found in self.suites.checks.items()}
        self.on_ranks = frozenset(slug for slug in items if markers.needs_ranks(items[slug]))
        # A worker can install the simulated device once for all answers to an exercise. Not where ranks are
        # started: their launcher must come first.
        needing = frozenset(slug for slug in items if markers.needs_device(items[slug]))
        self.on_device = needing - self.on_ranks

    def prepare_for(self, job: Job) -> None:
        """Do once in a worker what its children would each do again.

        What goes wrong here is met by the child as well, which can tell of it.
        """
        with contextlib.suppress(Exception):
            self.warm_up_for(job.slug)
            if job.examined:
                self.suites.oracle(job.slug)

    def warm_up_for(self, slug: str) -> None:
        """Run the `warm_up` of an exercise's suites, once in each worker, when its first answer comes.

        It pays for what only this exercise makes torch import, which would take every answer seconds.
        """
        if slug in self._warm:
            return
        self._warm.add(slug)  # one that raises would do so again
        hooks = [module.warm_up for module in self.suites.modules.get(slug, ()) if hasattr(module, "warm_up")]
        if not hooks:
            return
        try:
            with self.suites.shown(slug):
                for hook in hooks:
                    hook()
        finally:
            self.guard = Guard(self.suites.modules)
            gc.freeze()

    def install_device(self) -> None:
        """Install the simulated device for all children to come."""
        devices.install()
        self.guard.broken("")  # takes the names that classes gain by it for known
        gc.freeze()

    def inventory(self) -> dict[str, Any]:
        """Every check that an answer is expected to pass, and what this machine lacks for it."""
        checks = {slug: [asdict(check.spec) for check in found] for slug, found in self.suites.checks.items()}
        return {"torch": torch.__version__, "checks": {slug: [] for slug in self.suites.faults} | checks}

    def serve(self, sockets: list[int]) -> None:
        """Keep one worker alive per socket until the other side closes them all."""
        workers = {self._worker(fd): fd for fd in sockets}
        while workers:
            pid, status = os.wait()
            fd = workers.pop(pid, None)
            if fd is not None and status != 0:
                workers[self._worker(fd)] = fd

    def _worker(self, fd: int) -> int:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                Worker(self, socket.socket(fileno=fd)).run()
                status = 0
            finally:
                os._exit(status)
        return pid


class Worker:
    """Forks a child for each job that arrives on its socket.

    To install the simulated device takes a child 3 ms, and other exercises are judged without it. So a
    twin, in which it is installed, takes the jobs that need it.
    """

    def __init__(self, engine: Engine, channel: socket.socket) -> None:
        self.engine = engine
        self.channel = channel
        hide = [paths.ROOT / "tests", paths.PACKAGED]
        self.sandbox: sandbox.Sandbox = (
            sandbox.Confinement(hide=hide) if engine.confined else sandbox.Unconfined()
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
            if told["slug"] in self.engine.on_device and not self._has_device:
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
                self.engine.install_device()
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
            self.engine.prepare_for(job)
            # Ranks talk by ports; nobody else does.
            limits = sandbox.Limits(network=job.slug in self.engine.on_ranks)
            pid = self.sandbox.fork(limits, keep=(answer, results, beginning.writer))
        except (KataError, OSError) as error:
            pid, trouble = -1, str(error)
        if pid == 0:
            self._judge(job, mark, answer, results, beginning)
        os.close(answer)
        os.close(results)
        # The plugin's own alarm comes first: it can name the line where an answer hangs.
        ended = Ended() if pid < 0 else Ended(*self.sandbox.wait(pid, self._limit(job) + 2.0))
        lost = beginning.trouble()
        return Ended(lost=trouble or lost) if lost else ended

    def _judge(self, job: Job, mark: str, answer: int, results: int, beginning: Beginning) -> NoReturn:
        try:
            try:
                child = Child(self.engine.suites, self.engine.guard, job, mark, results)
                child.prepare(answer)
            except BaseException as error:
                beginning.failed(error)
                os._exit(0)
            beginning.begun()
            try:
                child.run()
            except Exception as error:
                os.write(results, f"{mark}{json.dumps(line_of(error))}\n".encode())
        finally:
            os._exit(0)

    def _limit(self, job: Job) -> float:
        checks = self.engine.suites.checks.get(job.slug, ())
        items = [check.item for check in checks if not job.only or check.spec.id in job.only]
        return markers.seconds_for(items, job.exercise.seconds)


def _reply(mark: str, ended: Ended) -> bytes:
    """A line that says which job it is about: who asked may have given up and asked something else."""
    return json.dumps({"mark": mark, **asdict(ended)}).encode() + b"\n"


def main() -> None:
    """Be the engine that the settings in `sys.argv` ask for, until its pool lets go of it."""
    settings = json.loads(sys.argv[1])
    catalog = load()
    exercises = tuple(catalog.exercise(slug) for slug in settings["slugs"])
    # What torch has filled by now is gathered while suites are imported.
    gathering = threading.Thread(target=hugepages.collapse)
    gathering.start()
    with os.fdopen(settings["control"], "w") as control:
        try:
            engine = Engine(exercises, confined=settings["confined"])
        except pytest.UsageError as error:
            json.dump({"fault": str(error)}, control)
            return
        json.dump(engine.inventory(), control)
    engine.suites.hide()
    gathering.join()
    gc.freeze()  # the collector keeps away from it, so that children share it
    gc.enable()
    hugepages.collapse()
    engine.serve(settings["sockets"])
    os._exit(0)  # nothing is left to be written, and taking torch down takes half a second


if __name__ == "__main__":
    main()
