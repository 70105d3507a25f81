"""Judge one answer in a process of its own, and write one JSON line per finding.

The answer runs here, so nothing that this process writes is trusted further on.
"""

import contextlib
import gc
import io
import json
import os
import random
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from grader import canary, collected, feedback, markers, plugin, seeds, wire
from grader.alarm import within
from grader.answers import Answers
from grader.catalog import load
from grader.checks import CheckFailure
from grader.collected import Check, Outcome, Suites
from grader.complaints import error_line
from grader.guard import Guard

MOST_MESSAGE = 4000
"""Characters of feedback that one check may take."""

MOST_PRINTED = 4 * MOST_MESSAGE
"""Bytes: enough for so many characters."""

SECONDS_AFTER = 1.0
"""The limit for a check, once the oracle has taken too long."""


@dataclass(frozen=True)
class Job:
    """What to do with the answer that comes along.

    `mode` is "judge" for checks and oracle, "check" for the checks alone with what the answer
    prints, "oracle" for the oracle alone. `only` holds the ids of checks to which judging is
    limited, without the oracle; where it is empty there is no limit. `mark` begins every line of results.
    """

    slug: str
    seed: int
    seconds: float
    mode: str = "judge"
    shuffled: bool = False
    only: Sequence[str] = ()
    mark: str = ""

    @property
    def examined(self) -> bool:
        """Whether the oracle is asked."""
        return self.mode != "check" and not self.only


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let no warning stop the judging itself: an answer may turn them all into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Beginning(io.RawIOBase):
    """Keeps the first bytes that are written to it and forgets the rest, however much it is."""

    name = "<printed>"

    def __init__(self) -> None:
        self.kept = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = memoryview(data).cast("B")
        self.kept += piece[: MOST_PRINTED - len(self.kept)]
        return len(piece)

    def fileno(self) -> int:
        return 1  # for those who write past Python: what leads nowhere in the engine


class Printed(io.TextIOWrapper):
    """Takes what is printed, as a terminal does: in bytes too, and with whatever settings are asked for."""

    def __init__(self) -> None:
        self._beginning = _Beginning()
        super().__init__(self._beginning, "utf-8", "backslashreplace", newline="", write_through=True)

    def take(self) -> str:
        """The beginning of what was printed since it was last taken."""
        with contextlib.suppress(ValueError):  # closed, or detached
            self.flush()
        text = self._beginning.kept.decode(errors="replace")[:MOST_MESSAGE]
        self._beginning.kept.clear()
        return text


class Child:
    """The process that judges one answer; `results` is the descriptor that it writes to."""

    def __init__(self, suites: Suites, guard: Guard, job: Job, results: int) -> None:
        self.suites = suites
        self.broken = guard.broken
        self.job = job
        self.exercise = load().exercise(job.slug)
        self.results = os.fdopen(results, "wb", buffering=0)
        # The path that the learner knows: feedback points there.
        root = Path.cwd() / "exercises"
        root.mkdir()
        self.judged = plugin.Judged(Answers(root), job.seed, job.seconds)
        self.printed = Printed()
        self.checks: list[Check] = []

    def prepare(self, answer: int) -> None:
        """All that can be done before the answer, which is read from this descriptor, is imported."""
        # torch makes its thread pool anew after a fork, at the first call of this. Left to the threads of
        # the first backward, two of them may do it at once, and end the process (CUDA builds of torch).
        torch.set_num_threads(1)
        with os.fdopen(answer, "rb") as source:
            text = source.read()
        file = self.judged.answers.root / self.exercise.relative
        file.parent.mkdir(parents=True)
        file.write_bytes(text)
        checks = list(self.suites.checks.get(self.job.slug, []))
        if self.job.only:
            checks = [check for check in checks if check.id in self.job.only]
        if self.job.shuffled:
            random.Random(self.job.seed).shuffle(checks)
        self.suites.config.stash[plugin.JUDGED] = self.judged
        sys.breakpointhook = self._no_debugger
        if self.job.mode == "check":
            sys.stdout = sys.stderr = self.printed
            # What libraries warn of is not what the answer prints, and it names files of this folder.
            warnings.showwarning = lambda *_told, **_options: None
        with self.suites.shown(self.job.slug):  # to ranks too: they have what their launcher has
            plugin.prepare([check.item for check in checks])
        if self.job.examined:
            self.suites.oracle(self.job.slug)  # or there is none, which is no answer's fault
        gc.unfreeze = lambda: None  # what the engine has frozen is not listed by `gc.get_objects`
        self.checks = checks

    def run(self) -> None:
        """Judge the answer."""
        if not self._imports():
            return
        # The oracle comes first: what an answer finds when the suites are in sight is of no use any more.
        if self.job.examined:
            self._oracle()
        if self.job.mode != "oracle":
            with self.suites.shown(self.job.slug):
                self._sings()
                self._check(self.checks)
                self._sings()
        self._tell(done=True)

    def _no_debugger(self, *_arguments: Any, **_options: Any) -> None:
        raise CheckFailure(
            f"breakpoint() was reached, and nobody is here to debug\n"
            f"  likely  debug with `pytest -s -k {self.job.slug}`, or take it out"
        )

    def _tell(self, **finding: Any) -> None:
        line = f"{self.job.mark}{json.dumps(finding)}\n".encode()
        while line:
            line = line[self.results.write(line) :]

    def _imports(self) -> bool:
        untouched = self._untouched  # the answer may put something else in its place
        try:
            self.judged.module(self.exercise)
        except feedback.DoesNotImport as broken:
            file = self.judged.answers.path(self.exercise)
            text = "\n".join(feedback.import_trouble(broken.cause, file))
            self._tell(broken=text[:MOST_MESSAGE], memory=isinstance(broken.cause, MemoryError))
            return False
        finally:
            if self.job.mode == "check":
                self._tell(printed=self.printed.take())
        return untouched()

    def _untouched(self) -> bool:
        """Whether the judging machinery is still what it was; says so and stops where it is not."""
        with quiet():
            name = self.broken(self.job.slug)
        if name is not None:
            self._tell(tampered=f"replaces {name}")
            os._exit(0)
        return True

    def _sings(self) -> None:
        """Try the canaries; say so and stop where one is silent."""
        with quiet():
            trouble = canary.broken()
        if trouble is not None:
            self._tell(tampered=trouble)
            os._exit(0)

    def _check(self, checks: list[Check]) -> None:
        untouched, tell_check = self._untouched, self._tell_check
        started = time.perf_counter()
        for check, outcome in collected.run(checks, self.judged):
            tell_check(check, outcome, time.perf_counter() - started)
            if self.job.mode != "check":
                untouched()
            started = time.perf_counter()
        if self.job.mode == "check":
            untouched()  # a learner forges nothing: one look at the end takes half of the time

    def _tell_check(self, check: Check, outcome: Outcome, seconds: float) -> None:
        printed = {"printed": self.printed.take()} if self.job.mode == "check" else {}
        self._tell(
            check=check.id,
            outcome=outcome.word,
            message=outcome.message[:MOST_MESSAGE],
            rule=outcome.is_rule,
            seconds=round(seconds, 4),
            unwritten=outcome.unwritten,
            **printed,
        )
        if outcome.word == "timeout":
            self._tell(stopped="timeout")
            os._exit(0)

    def _oracle(self) -> None:
        oracle = self.suites.oracle(self.job.slug)
        name = f"{self.job.slug}::oracle"
        with quiet():
            seeds.seed_globals(self.job.seed, name)
        items = [check.item for check in self.suites.checks[self.job.slug]]
        try:
            with within(markers.seconds_for(items, self.job.seconds)):
                module = self.judged.module(self.exercise)
                data = wire.encode(oracle(module, seeds.generator(self.job.seed, name)))
        except feedback.TooSlow as late:
            self._tell(oracle_error=error_line(late))
            self.judged.seconds = SECONDS_AFTER  # enough for a check to say where it hangs
        except BaseException as error:
            self._tell(oracle_error=error_line(error))
        else:
            self._tell(oracle=data)
