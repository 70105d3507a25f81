"""A start method made of what multiprocessing keeps to itself: forks, and pickles as "spawn" does.

Tried with Python 3.11 and torch 2.11 and 2.13.
"""

import io
import os
import pickle
from multiprocessing import context, popen_fork, popen_spawn_posix, process, reduction
from typing import Any


class _Popen(popen_fork.Popen):
    """Forks, but the child runs what arrives by pickle, as a spawned one would."""

    method = "spawn"
    # Descriptors are handed over as numbers, when all is pickled: what is closed by then is lost.
    DupFd = popen_spawn_posix._DupFd

    def _launch(self, started: Any) -> None:
        data = io.BytesIO()
        context.set_spawning_popen(self)  # type: ignore[arg-type]
        try:
            reduction.dump(started, data)
        finally:
            context.set_spawning_popen(None)
        data.seek(0)

        class Arrived:
            def _bootstrap(self, parent_sentinel: int) -> Any:
                try:
                    process_obj = pickle.load(data)
                except BaseException:
                    # Python 3.13 would end the other children of the process that forked this one.
                    os._exit(1)
                return process_obj._bootstrap(parent_sentinel)

        super()._launch(Arrived())  # type: ignore[misc]


class _Process(context.SpawnProcess):
    @staticmethod
    def _Popen(process_obj: process.BaseProcess) -> Any:
        return _Popen(process_obj)


class PickledContext(context.SpawnContext):
    """A context for `DataLoader(multiprocessing_context=...)`, where there is fork."""

    Process = _Process
