"""The warm parent: torch imported once, one forked child for an answer's checks and one for its oracle.

`grader.engine.pool` starts it, with settings such as
    {"oracles": [5, 6], "checks": [8, 9], "control": 7, "confined": true, "slugs": ["merge_heads"]}

It forks in two. One side collects the suites; the other reads the oracles out of their files, and never holds
a suite. Each side forks one worker per socket and replaces those that die.
"""

import gc
import json
import os
import sys
import threading
from typing import Any

from grader import sandbox
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.engine import hugepages
from grader.engine.oracle_side import OracleSide
from grader.engine.preload import warm_up
from grader.engine.worker import Court, Worker, serve


def main() -> None:
    """Be the engine that the settings in `sys.argv` ask for, until its pool lets go of it."""
    settings = json.loads(sys.argv[1])
    catalog = load()
    exercises = tuple(catalog.exercise(slug) for slug in settings["slugs"])
    if settings["confined"]:
        sandbox.prepare()
    warm_up(exercises)
    reader, writer = os.pipe()
    checks = os.fork()
    if checks == 0:
        _close(reader, settings["control"], *settings["oracles"])
        _check(exercises, settings, writer)
    else:
        _close(writer, *settings["checks"])
        _ask(exercises, settings, reader)
        os.waitpid(checks, 0)
    os._exit(0)  # nothing is left to be written, and taking torch down takes half a second


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _check(exercises: tuple[Exercise, ...], settings: dict[str, Any], inventory: int) -> None:
    """Collect the suites, say what there is, and serve."""
    # Here, as the other side is to hold nothing of it.
    import pytest

    from grader.engine.check_side import CheckSide

    # What torch has filled by now is gathered while suites are imported.
    gathering = threading.Thread(target=hugepages.collapse)
    gathering.start()
    with os.fdopen(inventory, "w") as told:
        try:
            side = CheckSide(exercises, confined=settings["confined"])
        except pytest.UsageError as error:
            json.dump({"fault": str(error)}, told)
            return
        json.dump(
            {"checks": side.inventory(), "on_ranks": list(side.on_ranks), "slow": list(side.slow)}, told
        )
    side.suites.hide()
    gathering.join()
    _serve(side, settings["checks"])


def _ask(exercises: tuple[Exercise, ...], settings: dict[str, Any], inventory: int) -> None:
    """Read the oracles, pass on what the other side says, and serve."""
    side = OracleSide(exercises, confined=settings["confined"])
    with os.fdopen(inventory) as told, os.fdopen(settings["control"], "w") as control:
        found = told.read()
        control.write(found)
    known = json.loads(found or "{}")
    if "checks" not in known:
        return
    side.on_ranks, side.slow = frozenset(known["on_ranks"]), frozenset(known["slow"])
    _serve(side, settings["oracles"])


def _serve(side: Court, sockets: list[int]) -> None:
    gc.freeze()  # the collector keeps away from it, so that children share it
    gc.enable()
    hugepages.collapse()
    serve(lambda channel: Worker(side, channel).run(), sockets)


if __name__ == "__main__":
    main()
