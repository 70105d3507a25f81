"""The court of a suite: torch and what its tests import are there, and a child runs files of tests."""

import math
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.classroom.suite import clocks, seeds, values
from grader.classroom.suite.child import SuiteChild
from grader.classroom.suite.collecting import collect, told_of
from grader.classroom.suite.part import IMPORT, SuiteRequest
from grader.classroom.suite.preload import names, needed, talks, warm_up
from grader.classroom.suite.warm_suite import WarmSuite
from grader.classroom.suite.watch import guard_of
from grader.core.packed import unpacked
from grader.engine.court import GRACE, ChildSpec
from grader.engine.server import greet, serve
from grader.sandbox import Limits


def hold(settings: dict[str, Any]) -> None:
    """Judge submissions by the suite that the settings tell of, once its tests are collected."""
    for descriptor in settings["oracles"]:  # a suite has none
        os.close(descriptor)
    sys.path[:] = filter(None, sys.path)  # "" would be the student's folder
    files, given = (_files(settings[name]) for name in ("suite", "given"))
    suite = WarmSuite(files, given, settings["config"], settings["seconds"], settings["place"])
    clocks.watch()
    values.watch()
    court = greet(
        settings["control"], lambda: SuiteCourt(suite, settings["reference"], confined=settings["confined"])
    )
    if court is not None:
        serve(court, settings["checks"])


def _files(descriptor: int) -> dict[str, bytes]:
    with os.fdopen(descriptor, "rb") as file:
        return unpacked(file.read())


class SuiteCourt:
    """Everything that a child inherits which runs tests.

    The files behind the descriptor `reference`, with which they are collected, are never read here: children
    inherit what this process holds.
    """

    def __init__(self, suite: WarmSuite, reference: int, *, confined: bool) -> None:
        self.confined = confined
        self.hidden: tuple[Path, ...] = ()
        self._suite = suite
        used = needed(names({**suite.given, **suite.files}), told_of(reference, names) or names({}))
        self._talks = talks(used)
        warm_up(used)
        seeds.fix()
        self._checks = collect(suite, reference)
        os.close(reference)
        suite.tests = {file: [check.id for check in held if check.id] for file, held in self._checks.items()}
        suite.guard = guard_of(suite.files)

    def inventory(self) -> dict[str, Any]:
        """The tests of each file."""
        return {"checks": {file: [asdict(check) for check in held] for file, held in self._checks.items()}}

    def spec(self, told: dict[str, Any]) -> ChildSpec:
        """A child that runs what is asked for; each test of it has a time of its own."""
        asked, each = SuiteRequest(**told), self._suite.seconds
        return ChildSpec(
            lambda telling, beat: SuiteChild(self._suite, asked, telling, beat),
            asked.seconds,
            Limits(cpu_seconds=math.ceil(asked.seconds + GRACE), network=self._talks),
            pace=(IMPORT * each, each),
        )
