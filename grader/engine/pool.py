"""The grading parent's side of the engine: start it, hand out answers to its workers, end it."""

import shutil
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from queue import SimpleQueue
from threading import Lock
from types import TracebackType
from typing import TypeVar

from grader import sandbox
from grader.core.errors import KataError
from grader.course.exercise import Exercise
from grader.engine.channel import GONE, ask
from grader.engine.neighbours import may_have_caused
from grader.engine.running import EngineSpec, Running, Workers, of_exercises
from grader.protocol.check import CheckSpec
from grader.protocol.job import Job
from grader.protocol.transcript import Transcript, joined

_P = TypeVar("_P", bound="Pool")

AHEAD = 4
"""Answers for each worker that may wait for their verdict: what comes back about one can take megabytes."""

SECONDS_AFTER = 1.0
"""The limit for a check, once the oracle has taken too long: enough to say where it hangs."""

HAND_OVER = 0.0005
"""Seconds after which the thread that makes verdicts lets one go on whose worker waits for an answer."""


class Pool:
    """A warm engine with `jobs` workers, of `exercises`, or of what the `spec` tells.

    One that ends, whatever the reason, is started anew, once.
    """

    def __init__(
        self,
        exercises: Sequence[Exercise],
        *,
        jobs: int,
        confined: bool,
        spec: EngineSpec | None = None,
    ) -> None:
        self.inventory: dict[str, list[CheckSpec]] = {}
        self._probe = _probe() if confined else None
        self._start = partial(Running, spec or of_exercises(exercises), jobs=jobs, confined=confined)
        self._running = self._start()
        self._ended: list[Running] = []
        self._restarting = Lock()
        # A thread that stays: bubblewrap ends with the thread that started it.
        self._starter = ThreadPoolExecutor(1)
        self._is_closed = False
        self._jobs = jobs

    def __enter__(self: _P) -> _P:
        """Wait until the engine is warm, and learn which checks there are."""
        if self._probe and (reason := self._probe.result()):
            self._running.kill()
            raise KataError(reason)
        self.inventory = self._running.greet()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the engine: its workers go when their sockets do."""
        with self._restarting:
            self._is_closed = True
        for running in (*self._ended, self._running):
            running.close()
        self._starter.shutdown()

    def reference(self, job: Job) -> Transcript:
        """Judge a reference solution, in a worker that never sees an answer."""
        return self._asked(lambda running: self._ask_the_trusted(running, job))

    def judge(self, asked: Iterable[Job]) -> Iterator[tuple[Job, Transcript]]:
        """Judge the answers, as many at a time as there are workers; in the order they finish.

        The first ones are under way while `asked` is still asked for more. Where a neighbour may have had a
        part in what came of an answer, or the grader failed, it comes last and is judged again, alone.
        """
        again = []
        interval = sys.getswitchinterval()
        sys.setswitchinterval(HAND_OVER)
        rest = iter(asked)
        under_way: dict[Future[Transcript], Job] = {}
        finished: SimpleQueue[Future[Transcript]] = SimpleQueue()

        def start(most: int) -> None:
            for job in islice(rest, most):
                future = threads.submit(self.judge_one, job)
                under_way[future] = job
                future.add_done_callback(finished.put)

        with ThreadPoolExecutor(self._jobs) as threads:
            try:
                start(AHEAD * self._jobs)
                while under_way:
                    done = finished.get()
                    job, found = under_way.pop(done), done.result()
                    del done  # it holds what was found
                    start(1)
                    if self.is_open(found):
                        again.append(job)
                    else:
                        yield job, found
            finally:
                for future in under_way:
                    future.cancel()
                sys.setswitchinterval(interval)
        for job in again:
            yield job, self.judge_one(job, alone=True)

    def judge_one(self, job: Job, *, alone: bool = False) -> Transcript:
        """Judge one answer, as soon as a worker is free; `alone`, as soon as all are."""
        return self._asked(lambda running: _ask_a_free_one(running, job, alone))

    def _ask_the_trusted(self, running: Running, job: Job) -> Transcript:
        found = _ask(running.trusted, job)
        if not self.is_open(found):
            return found
        with running.taken(every=True):
            return _ask(running.trusted, job)

    def is_open(self, found: Transcript) -> bool:
        """Whether an answer is to be judged again before anything is said of it."""
        return bool(found.fault) or may_have_caused(found)

    def _asked(self, ask_it: Callable[[Running], Transcript]) -> Transcript:
        running = self._running
        found = ask_it(running)
        if found.ended.lost.startswith(GONE) and self._replaced(running):
            return ask_it(self._running)
        return found

    def _replaced(self, running: Running) -> bool:
        """Whether there is another engine now in place of one that ended."""
        with self._restarting:
            if self._running is running and not self._ended and not self._is_closed:
                self._ended.append(running)  # closed later: others may still be listening to it
                with suppress(KataError, OSError):  # nobody can judge then
                    self._running = self._starter.submit(self._start).result()
                    self._running.greet()
            return self._running is not running


def _ask_a_free_one(running: Running, job: Job, alone: bool) -> Transcript:
    with running.taken(every=alone) as workers:
        return _ask(workers, job)


def _ask(workers: Workers, job: Job) -> Transcript:
    """Ask the oracle first: nothing that an answer finds beside the checks is of use there."""
    if not job.examined:
        return _ask_twice(workers.checks, job)
    oracle = _ask_twice(workers.oracle, job)
    if job.mode == "oracle" or oracle.ended.lost:
        return oracle
    if oracle.last_word == "stopped":
        job = replace(job, exercise=replace(job.exercise, seconds=SECONDS_AFTER))
    return joined(oracle, _ask_twice(workers.checks, job))


def _ask_twice(channel: socket.socket, job: Job) -> Transcript:
    """A worker that died was replaced; what it was doing deserves a second try."""
    found = ask(channel, job)
    return ask(channel, job) if found.ended.lost else found


def _probe() -> Future[str | None]:
    """Try whether the sandbox works, while the engine gets warm: both take a while."""
    if shutil.which("bwrap") is None:  # nothing could be started
        raise KataError(sandbox.unavailable() or "no sandbox: bubblewrap is not installed")
    aside = ThreadPoolExecutor(1)
    try:
        return aside.submit(sandbox.unavailable)
    finally:
        aside.shutdown(wait=False)
