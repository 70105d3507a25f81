"""The warm parent of a suite: torch imported once, and what its tests import; a forked child for each answer.

`grader.suite.running` starts it, with settings such as
    {"checks": [8, 9], "control": 7, "suite": 5, "confined": true, "seconds": 10, ...}
"""

import gc
import json
import os
import sys
from dataclasses import asdict

from grader import sandbox
from grader.core.errors import KataError
from grader.core.packed import unpacked
from grader.engine import hugepages
from grader.engine.worker import serve
from grader.suite.collecting import collect
from grader.suite.court import Court
from grader.suite.preload import talks, warm_up
from grader.suite.watch import guard_of
from grader.suite.worker import Worker


def main() -> None:
    """Be the engine that the settings in `sys.argv` ask for, until its pool lets go of it."""
    settings = json.loads(sys.argv[1])
    sys.path[:] = filter(None, sys.path)  # "" would be the student's folder
    court = Court(
        files=_files(settings["suite"]),
        given=_files(settings["given"]),
        reference=_files(settings["reference"]),
        place=settings["place"],
        config=settings["config"],
        seconds=settings["seconds"],
        confined=settings["confined"],
    )
    if court.confined:
        sandbox.prepare()
    every = {**court.given, **court.reference, **court.files}
    court.talks = talks(every)
    warm_up(every)
    with os.fdopen(settings["control"], "w") as control:
        try:
            checks = collect(court)
        except KataError as error:
            json.dump({"fault": str(error)}, control)
            return
        json.dump({"checks": {file: [asdict(c) for c in held] for file, held in checks.items()}}, control)
    court.tests = {file: [check.id for check in held if check.id] for file, held in checks.items()}
    court.guard = guard_of(court.files)
    gc.freeze()  # the collector keeps away from it, so that children share it
    gc.enable()
    hugepages.collapse()
    serve(lambda channel: Worker(court, channel).run(), settings["checks"])
    os._exit(0)  # nothing is left to be written, and taking torch down takes half a second


def _files(descriptor: int) -> dict[str, bytes]:
    with os.fdopen(descriptor, "rb") as file:
        return unpacked(file.read())
