"""The grading parent's side of the engine: start it, hand out answers to its workers, end it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import SimpleQueue
from types import TracebackType
from typing import IO, Any

from grader import paths, sandbox
from grader.catalog import Exercise
from grader.channel import GRACE, ask
from grader.errors import KataError
from grader.findings import Expected, Findings, Request

__all__ = ["Expected", "Findings", "Pool", "Request"]

READABLE = (
    paths.ROOT / "grader",
    paths.ROOT / "conftest.py",
    paths.ROOT / "pyproject.toml",
    paths.ROOT / "tests" / "__init__.py",
    paths.EXERCISES,
    paths.PUBLIC,
    paths.HIDDEN,
)
"""What the engine sees of the clone: no solutions, no specimens, nobody's work."""

_ENGINE = "import gc; gc.disable(); from grader.engine import main; main()"
"""To look for garbage takes a sixth of the time until the engine is warm, and nearly all stays."""

AHEAD = 4
"""Answers for each worker that may wait for their verdict: what comes back about one can take megabytes."""

HAND_OVER = 0.0005
"""Seconds after which the thread that makes verdicts lets one go on whose worker waits for an answer."""


class Pool:
    """An engine with `jobs` workers, and one more that only ever sees reference solutions."""

    def __init__(self, exercises: Sequence[Exercise], *, jobs: int, confined: bool) -> None:
        self.inventory: dict[str, list[Expected]] = {}
        pairs = [socket.socketpair() for _ in range(jobs + 1)]
        self._channels: SimpleQueue[socket.socket] = SimpleQueue()
        self._trusted = pairs[0][0]
        for ours, _ in pairs[1:]:
            self._channels.put(ours)
        self._sockets = [ours for ours, _ in pairs]
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed in close()
        self._probe = _probe() if confined else None
        control, inventory = os.pipe()
        theirs = [other.fileno() for _, other in pairs]
        self._process = self._start(exercises, theirs, inventory, confined)
        for _, other in pairs:
            other.close()
        os.close(inventory)
        self._control = control
        self._jobs = jobs

    def _start(
        self, exercises: Sequence[Exercise], sockets: list[int], control: int, confined: bool
    ) -> subprocess.Popen[bytes]:
        settings = {
            "sockets": sockets,
            "control": control,
            "confined": confined,
            "slugs": [e.slug for e in exercises],
        }
        argv = [sys.executable, "-c", _ENGINE, json.dumps(settings)]
        if confined:
            argv = sandbox.command(argv, readable=READABLE)
        return subprocess.Popen(
            argv,
            pass_fds=[*sockets, control],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            env={**os.environ, **sandbox.ENVIRONMENT},
            cwd=paths.ROOT,
        )

    def __enter__(self) -> "Pool":
        """Wait until the engine is warm, and learn which checks there are."""
        if self._probe and (reason := self._probe.result()):
            self._process.kill()
            os.close(self._control)
            self.close()
            raise KataError(reason)
        with os.fdopen(self._control) as control:
            told = control.read()
        hello: dict[str, Any] = json.loads(told) if told else {"fault": self._last_words()}
        if "fault" in hello:
            self.close()
            raise KataError(f"the engine did not start: {hello['fault']}; nothing was graded")
        self.inventory = {slug: [Expected(**c) for c in checks] for slug, checks in hello["checks"].items()}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the engine: its workers go when their sockets do."""
        for channel in self._sockets:
            channel.close()
        try:
            self._process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()

    def _last_words(self) -> str:
        self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.returncode}"

    def reference(self, request: Request) -> Findings:
        """Run the oracle on a reference solution, in a worker that never sees an answer."""
        return ask(self._trusted, request)

    def judge(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Findings]]:
        """Judge the answers, as many at a time as there are workers; in the order they finish.

        Those that were cut short come last and one by one: a neighbour may have used up the machine.
        """
        again = []
        interval = sys.getswitchinterval()
        sys.setswitchinterval(HAND_OVER)
        rest = iter(requests)
        under_way: dict[Future[Findings], Request] = {}
        finished: SimpleQueue[Future[Findings]] = SimpleQueue()

        def start(most: int) -> None:
            for request in islice(rest, most):
                future = threads.submit(self.judge_one, request)
                under_way[future] = request
                future.add_done_callback(finished.put)

        with ThreadPoolExecutor(self._jobs) as threads:
            try:
                start(AHEAD * self._jobs)
                while under_way:
                    done = finished.get()
                    request, findings = under_way.pop(done), done.result()
                    del done  # it holds the findings
                    start(1)
                    if findings.cut_short:
                        again.append(request)
                    else:
                        yield request, findings
            finally:
                for future in under_way:
                    future.cancel()
                sys.setswitchinterval(interval)
        for request in again:
            yield request, self.judge_one(request)

    def judge_one(self, request: Request) -> Findings:
        """Judge one answer, as soon as a worker is free."""
        channel = self._channels.get()
        try:
            findings = ask(channel, request)
            # A worker that died was replaced; what it was doing deserves a second try.
            return ask(channel, request) if findings.lost else findings
        finally:
            self._channels.put(channel)


def _probe() -> Future[str | None]:
    """Try whether the sandbox works, while the engine gets warm: both take a while."""
    if shutil.which("bwrap") is None:  # nothing could be started
        raise KataError(sandbox.unavailable() or "no sandbox: bubblewrap is not installed")
    aside = ThreadPoolExecutor(1)
    try:
        return aside.submit(sandbox.unavailable)
    finally:
        aside.shutdown(wait=False)
