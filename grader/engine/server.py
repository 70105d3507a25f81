"""The warm parent: what judging needs is imported once, and a child forked for each answer.

`grader.engine.running` starts it, with settings such as
    {"court": "grader.engine.exercises", "oracles": [5, 6], "checks": [8, 9], "control": 7, …}
which `hold` of the module named by `court` takes.
"""

import gc
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module

from grader import sandbox
from grader.core.errors import KataError
from grader.engine import hugepages, worker
from grader.engine.court import Court, CourtOfChecks


def main() -> None:
    """Be the engine that the settings in `sys.argv` ask for, until its pool lets go of it."""
    settings = json.loads(sys.argv[1])
    if settings["confined"]:
        sandbox.prepare()
    import_module(settings["court"]).hold(settings)
    os._exit(0)  # nothing is left to be written, and taking torch down takes half a second


def greet(control: int, found: Callable[[], CourtOfChecks]) -> Court | None:
    """The court, of which is told on the descriptor `control` what there is; or why there is none."""
    with os.fdopen(control, "w") as told:
        try:
            court = found()
        except KataError as error:
            json.dump({"fault": str(error)}, told)
            return None
        json.dump(court.inventory(), told)
    return court


def serve(court: Court, sockets: list[int]) -> None:
    """Judge by this court whatever comes on these sockets, until the other side closes them all."""
    gc.freeze()  # the collector keeps away from it, so that children share it
    gc.enable()
    hugepages.collapse()
    worker.serve(court, sockets)
