"""Start methods for the real workers of a `DataLoader`, as cheap as forking."""

import io
import multiprocessing
import os
import pickle
from multiprocessing import context, popen_fork, popen_spawn_posix, process, reduction
from typing import Any

FORKED: str = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
"""The cheaper start method that this system has: a worker that is spawned imports torch anew."""


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
                return pickle.load(data)._bootstrap(parent_sentinel)

        super()._launch(Arrived())  # type: ignore[misc]


class _Process(context.SpawnProcess):
    @staticmethod
    def _Popen(process_obj: process.BaseProcess) -> Any:
        return _Popen(process_obj)


class _Pickled(context.SpawnContext):
    Process = _Process


PICKLED: context.BaseContext = _Pickled() if hasattr(os, "fork") else multiprocessing.get_context("spawn")
"""Start workers as "spawn" does: what they work on is pickled. Without the seconds that importing takes."""
