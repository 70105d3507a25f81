"""Judge one answer in a process of its own, and write one JSON line per finding.

The answer runs here, so nothing that this process writes is trusted further on.
"""

import gc
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from grader.checks import CheckFailure
from grader.checks.cost import steps
from grader.core.errors import KataError
from grader.engine import collection
from grader.engine.answer_file import written
from grader.engine.collection import Suites, SuiteTest
from grader.engine.integrity import canary, lookout
from grader.engine.integrity.guard import Guard
from grader.engine.integrity.kept import Kept
from grader.engine.printed import Printed
from grader.engine.quiet import quiet
from grader.engine.telling import Telling
from grader.plugin import failure_report, plugin
from grader.plugin.load_answer import Answers, DoesNotImport
from grader.protocol.check import Finding
from grader.protocol.job import Job


class Child:
    """The process that judges one answer."""

    def __init__(self, suites: Suites, guard: Guard, job: Job, telling: Telling) -> None:
        self.suites = suites
        self.guard = guard
        self.job = job
        self.exercise = job.exercise
        self._tell = telling.tell
        # The path that the learner knows: feedback points there.
        root = Path.cwd() / "exercises"
        root.mkdir()
        self.judged = plugin.Judged(Answers(root), job.seed, self.exercise.seconds)
        self.printed = Printed()
        self.checks: tuple[SuiteTest, ...] = ()

    def prepare(self, answer: int) -> None:
        """All that can be done before the answer, which is read from this descriptor, is imported."""
        if fault := self.suites.faults.get(self.job.slug):
            raise KataError(fault)
        # torch makes its thread pool anew after a fork, at the first call of this. Left to the threads of
        # the first backward, two of them may do it at once, and end the process (CUDA builds of torch).
        torch.set_num_threads(1)
        written(self.exercise, answer)
        # The job comes first: an answer that hangs in the fine print has done it.
        checks = sorted(self.suites.checks.get(self.job.slug, []), key=lambda check: check.spec.fine)
        if self.job.only:
            checks = [check for check in checks if check.spec.id in self.job.only]
        if self.job.shuffled:
            random.Random(self.job.seed).shuffle(checks)
        for config in self.suites.configs:
            config.stash[plugin.JUDGED] = self.judged
        sys.breakpointhook = self._no_debugger
        steps.follow_threads()  # before the answer can start any
        if self.job.mode == "check":
            sys.stdout = sys.stderr = self.printed
            # What libraries warn of is not what the answer prints, and it names files of this folder.
            warnings.showwarning = lambda *_told, **_options: None
        with self.suites.shown(self.job.slug):  # to ranks too: they have what their launcher has
            plugin.prepare([check.item for check in checks])
        gc.unfreeze = lambda: None  # what the engine has frozen is not listed by `gc.get_objects`
        self.checks = tuple(checks)

    def run(self) -> None:
        """Judge the answer."""
        if all(check.spec.lacks for check in self.checks):  # what the answer imports may not be here either
            for check, finding in collection.run(self.checks, self.judged):
                self._tell_check(check, finding, 0.0)
            self._tell(done=True)
            return
        untouched = self._lookout()
        kept = (*(tuple(map(Kept.of, (check, check.spec, check.item))) for check in self.checks), ())
        if not self._imports(untouched):
            return
        with self.suites.shown(self.job.slug):
            self._sings()
            self._check(untouched, kept)
            self._sings()
        self._tell(done=True)

    def _no_debugger(self, *_arguments: Any, **_options: Any) -> None:
        raise CheckFailure(
            "breakpoint() was reached, and nobody is here to debug",
            likely=f"debug with `pytest -s -k {self.job.slug}`, or take it out",
        )

    def _lookout(self) -> Callable[..., None]:
        """A look at whether the judging is still what it is now; it says so and stops where it is not.

        An answer can put something else in the place of all that hangs on an object or a class of ours: what
        comes after it holds this, and whatever this needs it holds itself.
        """
        tell = self._tell
        ours = (self, self.job, self.judged, self.judged.answers, self.suites, self.guard)
        looks = self.guard.looks(self.job.slug)
        changed = lookout.remember(looks, ours, strict=self.job.mode != "check")

        def untouched(*others: Kept) -> None:
            with quiet():
                change = changed(*others)
            if change is not None:
                tell(tampered=change)
                os._exit(0)

        return untouched

    def _imports(self, untouched: Callable[..., None]) -> bool:
        trouble: dict[str, Any] = {}
        try:
            self.judged.module(self.exercise)
        except DoesNotImport as broken:
            file = self.judged.answers.path(self.exercise)
            told = failure_report.import_trouble(broken.cause, file)
            is_memory = isinstance(broken.cause, MemoryError)
            trouble = {"broken": True, "feedback": told.to_json(), "memory": is_memory}
        if self.job.mode == "check":
            self._tell(printed=self.printed.take())
        else:
            untouched()
        if trouble:
            self._tell(**trouble)
        return not trouble

    def _sings(self) -> None:
        """Try the canaries; say so and stop where one is silent."""
        with quiet():
            trouble = canary.broken()
        if trouble is not None:
            self._tell(tampered=trouble)
            os._exit(0)

    def _check(self, untouched: Callable[..., None], kept: Sequence[Sequence[Kept]]) -> None:
        tell_check, strict = self._tell_check, self.job.mode != "check"
        if strict:
            untouched(*kept[0])
        started = time.perf_counter()
        for place, (check, finding) in enumerate(collection.run(self.checks, self.judged), start=1):
            seconds = time.perf_counter() - started
            if strict:  # before it is told, and before the next one
                untouched(*kept[place])
            tell_check(check, finding, seconds)
            started = time.perf_counter()
        if not strict:
            untouched()  # a learner forges nothing: one look, at the end

    def _tell_check(self, check: SuiteTest, finding: Finding, seconds: float) -> None:
        printed = self.printed.take() if self.job.mode == "check" else ""
        finding = replace(finding, printed=printed, seconds=round(seconds, 4))
        self._tell(check=check.spec.id, **finding.to_json())
        if finding.outcome == "timeout":
            self._tell(stopped="timeout")
            os._exit(0)
