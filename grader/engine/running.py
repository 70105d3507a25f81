"""One engine's process, as its pool sees it: started, greeted when it is warm, ended."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import IO, Any, NamedTuple

from grader import sandbox
from grader.core.errors import KataError
from grader.course import paths, sources
from grader.course.exercise import Exercise
from grader.engine.channel import GRACE
from grader.protocol.check import CheckSpec

_SEEN = (
    *("conftest.py", "pyproject.toml", "tests/__init__.py"),
    *("exercises", "tests/public", "tests/hidden"),
)
"""What the engine sees of a course: no solutions, no specimens, nobody's work."""

_ENGINE = "import gc; gc.disable(); from grader.engine.server import main; main()"
"""To look for garbage takes a sixth of the time until the engine is warm, and nearly all stays."""


@dataclass(frozen=True)
class EngineSpec:
    """What an engine judges by: the module of its court, what that needs to know, and what it may read.

    `files` are given to it behind descriptors, whose numbers its settings have under their names.
    """

    court: str
    settings: Mapping[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()


def of_exercises(exercises: Sequence[Exercise]) -> EngineSpec:
    """The engine of these exercises."""
    seen = tuple(place for name in _SEEN for place in sources.each(name) if place.exists())
    return EngineSpec("grader.engine.exercises", {"slugs": [e.slug for e in exercises]}, readable=seen)


class Workers(NamedTuple):
    """The sockets of two workers that judge one answer: who asks the oracle, and who runs the checks."""

    oracle: socket.socket
    checks: socket.socket


class Running:
    """An engine with `jobs` pairs of workers, and one more that only ever sees reference solutions.

    `trusted` is the other one; `stderr` takes what it complains of.
    """

    def __init__(self, spec: EngineSpec, *, jobs: int, confined: bool) -> None:
        oracles, checks = ([socket.socketpair() for _ in range(jobs + 1)] for _ in range(2))
        self.trusted, *others = (Workers(a, b) for (a, _), (b, _) in zip(oracles, checks, strict=True))
        self._free: SimpleQueue[Workers] = SimpleQueue()
        for workers in others:
            self._free.put(workers)
        self._jobs = jobs
        self._taking_every = Lock()
        self._sockets = [ours for ours, _ in (*oracles, *checks)]
        self.stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed in close()
        self._control, inventory = os.pipe()
        theirs = {
            "oracles": [other.fileno() for _, other in oracles],
            "checks": [other.fileno() for _, other in checks],
        }
        self._process = self._start(spec, theirs, inventory, confined)
        for _, other in (*oracles, *checks):
            other.close()
        os.close(inventory)

    def _start(
        self, spec: EngineSpec, sockets: dict[str, list[int]], control: int, confined: bool
    ) -> subprocess.Popen[bytes]:
        with ExitStack() as stack:
            files = {name: stack.enter_context(_file(held)).fileno() for name, held in spec.files.items()}
            told = {"court": spec.court, "control": control, "confined": confined}
            settings = {**told, **sockets, **files, **spec.settings}
            argv = [sys.executable, "-c", _ENGINE, json.dumps(settings)]
            if confined:
                argv = sandbox.command(argv, readable=spec.readable)
            return subprocess.Popen(
                argv,
                pass_fds=[*sockets["oracles"], *sockets["checks"], *files.values(), control],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.stderr,
                env={**os.environ, **sandbox.ENVIRONMENT, **sources.environment()},
                cwd=paths.ROOT,
            )

    def greet(self) -> dict[str, list[CheckSpec]]:
        """Wait until it is warm, and learn which checks there are.

        Raises:
            KataError: it did not start; it is closed then.
        """
        with os.fdopen(self._control) as control:
            told = control.read()
        hello: dict[str, Any] = json.loads(told) if told else {"fault": self._last_words()}
        if "fault" in hello:
            self.close()
            raise KataError(f"the engine did not start: {hello['fault']}; nothing was graded")
        return {slug: [CheckSpec(**check) for check in checks] for slug, checks in hello["checks"].items()}

    @contextmanager
    def taken(self, *, every: bool = False) -> Iterator[Workers]:
        """A pair of workers, as soon as one is free; with `every`, as soon as all are, which then wait."""
        with self._taking_every if every else nullcontext():  # two who wait for all wait for each other
            pairs = [self._free.get()]
            try:
                while every and len(pairs) < self._jobs:
                    pairs.append(self._free.get())
                yield pairs[0]
            finally:
                for pair in pairs:
                    self._free.put(pair)

    def kill(self) -> None:
        """End it before it was greeted."""
        self._process.kill()
        os.close(self._control)
        self.close()

    def close(self) -> None:
        """End it: its workers go when their sockets do."""
        for channel in self._sockets:
            channel.close()
        try:
            self._process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.stderr.close()

    def _last_words(self) -> str:
        self._process.wait()
        self.stderr.seek(0)
        lines = self.stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.returncode}"


def _file(content: bytes) -> IO[bytes]:
    file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by the caller
    file.write(content)
    file.seek(0)
    return file
