"""The courts of exercises: one runs the checks, and one asks the oracles.

The engine forks in two. One side collects the suites; the other reads the oracles out of their files, and
never holds a suite.
"""

import json
import os
import threading
from typing import Any

from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.engine import hugepages
from grader.engine.oracle_court import OracleCourt
from grader.engine.preload import warm_up
from grader.engine.server import greet, serve


def hold(settings: dict[str, Any]) -> None:
    """Judge answers to the exercises that the settings name."""
    catalog = load()
    exercises = tuple(catalog.exercise(slug) for slug in settings["slugs"])
    warm_up(exercises)
    reader, writer = os.pipe()
    checks = os.fork()
    if checks == 0:
        _close(reader, settings["control"], *settings["oracles"])
        _check(exercises, settings, writer)
        os._exit(0)
    _close(writer, *settings["checks"])
    _ask(exercises, settings, reader)
    os.waitpid(checks, 0)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _check(exercises: tuple[Exercise, ...], settings: dict[str, Any], inventory: int) -> None:
    """Collect the suites, say what there is, and serve."""
    from grader.engine.check_court import CheckCourt  # here, as the other side is to hold nothing of it

    # What torch has filled by now is gathered while suites are imported.
    gathering = threading.Thread(target=hugepages.collapse)
    gathering.start()

    def collected() -> CheckCourt:
        court = CheckCourt(exercises, confined=settings["confined"])
        court.suites.hide()
        return court

    court = greet(inventory, collected)
    gathering.join()
    if court is not None:
        serve(court, settings["checks"])


def _ask(exercises: tuple[Exercise, ...], settings: dict[str, Any], inventory: int) -> None:
    """Read the oracles, pass on what the other side says, and serve."""
    court = OracleCourt(exercises, confined=settings["confined"])
    with os.fdopen(inventory) as told, os.fdopen(settings["control"], "w") as control:
        found = told.read()
        control.write(found)
    known = json.loads(found or "{}")
    if "checks" in known:
        court.on_ranks, court.slow = frozenset(known["on_ranks"]), frozenset(known["slow"])
        serve(court, settings["oracles"])
