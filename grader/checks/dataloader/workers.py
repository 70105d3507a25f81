"""Start methods for the real workers of a `DataLoader`: as cheap as forking, and truly spawned."""

import atexit
import contextlib
import importlib.machinery
import importlib.util
import multiprocessing
import os
import pickle
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import BaseContext
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from torch.utils.data import DataLoader, Dataset, get_worker_info

from grader.checks.dataloader import _compat
from grader.checks.dataloader.report import expect_picklable, failure_of
from grader.checks.processes import cpu_seconds
from grader.core.timeout import at_most_the_alarm

__all__ = ["FORKED", "PICKLED", "imported_anew", "signed", "spawned_epochs"]

FORKED: str = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
"""The cheaper start method that this system has: a worker that is spawned imports torch anew.

Example:
    def test_two_workers(answer):
        loader = DataLoader(answer.Squares(), None, num_workers=2, multiprocessing_context=FORKED)
        expect_equal(list(loader), [0, 1, 4, 9], "the squares from two workers")
"""

TICK = 0.1
SILENCE, RESTING = 15.0, 0.005
"""Spawned workers that use no more than so much CPU time for so many seconds will give nothing any more.

Counted in ticks, not by the clock: on a busy machine, whoever counts stands still as well. Far more than the
five seconds after which a loader looks for workers that have died: a slow disk has torch to give first."""
MOST_WORK = 20.0
"""Seconds of CPU time until there is a batch: importing torch takes two of them for each worker."""


PICKLED: BaseContext = (
    _compat.PickledContext() if hasattr(os, "fork") else multiprocessing.get_context("spawn")
)
"""Start workers as "spawn" does: what they work on is pickled. Without the seconds that importing takes.

Example:
    def test_workers_that_get_it_by_pickle(answer):
        loader = DataLoader(answer.Squares(), None, num_workers=2, multiprocessing_context=PICKLED)
        expect_equal(list(loader), [0, 1, 4, 9], "the squares from two workers")
"""


def signed(data: Any) -> tuple[int, Any]:
    """A `collate_fn` that changes nothing, and says which worker it ran in.

    Example:
        def test_workers_take_turns(answer):
            options = {"num_workers": 2, "collate_fn": signed, "multiprocessing_context": FORKED}
            found = list(DataLoader(answer.Squares(), None, **options))
            expect_equal(found, [(0, 0), (1, 1), (0, 4), (1, 9)], "worker and square, in order")
    """
    worker = get_worker_info()
    return (-1 if worker is None else worker.id), data


def imported_anew(answer: ModuleType, what: str, *values: Any) -> tuple[Any, ...]:
    """The answer's module as a spawned worker would import it, and the values as it would get them.

    What an answer keeps in its module is gone there. It takes milliseconds; a spawned worker takes seconds.

    Example:
        def test_a_spawned_worker_has_it(answer):
            anew, squares = imported_anew(answer, "dataset", answer.Squares())
            expect_equal(squares[2], 4, "Squares()[2] in a spawned worker")
    """
    for value in values:
        expect_picklable(what, value)
    pickled = pickle.dumps(values)
    spec = importlib.util.spec_from_file_location(answer.__name__, str(answer.__file__))
    assert spec and spec.loader
    anew = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, {answer.__name__: anew}):
        spec.loader.exec_module(anew)
        return anew, *pickle.loads(pickled)


def spawned_epochs(
    answer: ModuleType, dataset: Dataset[Any], *, epochs: int = 2, seconds: float = 110.0, **options: Any
) -> list[list[Any]]:
    """The batches of some epochs from two spawned workers that stay alive: interpreters of their own.

    They import the answer by its name, and torch: that takes seconds. Mark a check that does this `slow`, and
    do it once in a suite. Where answers are graded, suites are not there to be imported: give workers no
    function or class of a suite, but those of libraries and of this package.

    Args:
        answer: the module under judgement.
        seconds: for all of it, at most what is left of the check's own.
        options: what else the loader takes.

    Raises:
        CheckFailure: something cannot be pickled, a worker raised or died, or time ran out.

    Example:
        @pytest.mark.slow
        def test_spawned_workers(answer):
            for squares in spawned_epochs(answer, answer.Squares(), batch_size=None):
                expect_equal(squares, [0, 1, 4, 9], "the squares from two spawned workers")
    """
    expect_picklable("dataset", dataset)
    for name in ("collate_fn", "worker_init_fn"):
        expect_picklable(name, options.get(name))
    options = {"num_workers": 2, "persistent_workers": True, **options}
    options["worker_init_fn"] = _Start(options.get("worker_init_fn"))
    loader: Any = DataLoader(dataset, multiprocessing_context="spawn", **options)
    workers: Any = None
    caught: Exception | None = None
    with _importable(answer), tempfile.TemporaryFile() as stderr:
        watch = _Watch(stderr.fileno(), at_most_the_alarm(seconds))
        try:
            with _alone(), _stderr_into(stderr.fileno()):
                workers = iter(loader)
            watch.begin()
            return [watch.counted(workers if epoch == 0 else iter(loader)) for epoch in range(epochs)]
        except Exception as error:
            caught = error
        finally:
            watch.end(workers)
        raise failure_of(caught, watch.said(), watch.late, dataset)


class _Start:
    """A `worker_init_fn` before the one that is asked for: taking torch down takes half a second."""

    def __init__(self, then: Callable[[int], None] | None) -> None:
        self.then = then

    def __call__(self, number: int) -> None:
        atexit.register(os._exit, 0)
        if self.then is not None:
            self.then(number)


class _Watch(threading.Thread):
    """Kills workers that will give nothing any more: what waits for them then hears of it."""

    def __init__(self, stderr: int, seconds: float) -> None:
        super().__init__(daemon=True)
        self.late = ""
        self._stderr = stderr
        self._seconds = seconds
        self._others = multiprocessing.active_children()
        self._workers: list[Any] = []
        self._batches = 0
        self._over = threading.Event()
        self.start()

    def begin(self) -> None:
        """The workers have been started."""
        if sys.platform == "linux":  # elsewhere nobody tells what they do: only the clock counts
            self._workers = self._spawned()

    def _spawned(self) -> list[Any]:
        return [worker for worker in multiprocessing.active_children() if worker not in self._others]

    def run(self) -> None:
        deadline = time.monotonic() + self._seconds
        batches, worked, used, idle = -1, 0.0, 0.0, 0
        while not self.late and not self._over.wait(TICK):
            now = sum(cpu_seconds(worker.pid) or 0.0 for worker in self._workers)
            idle = 0 if now > used + RESTING or not self._workers else idle + 1
            used = now if idle == 0 else used
            if self._batches != batches:
                batches, worked, idle = self._batches, now, 0
            if idle * TICK >= SILENCE:
                self.late = "a spawned worker never gives its batch: it waits"
            elif now > worked + MOST_WORK:
                self.late = "a spawned worker never gives its batch: an endless loop?"
            elif time.monotonic() > deadline:
                self.late = f"spawned workers are not done after {self._seconds:.0f} s"
        while not self._over.is_set():
            for worker in self._spawned():
                worker.kill()
            self._over.wait(1.0)  # more may be started meanwhile

    def counted(self, batches: Iterator[Any]) -> list[Any]:
        """All batches of an epoch."""
        found = []
        for batch in batches:
            found.append(batch)
            self._batches += 1
        return found

    def said(self) -> str:
        """What the workers have written to stderr."""
        said = os.pread(self._stderr, 1 << 20, 0) if hasattr(os, "pread") else b""
        return said.decode(errors="replace")

    def end(self, workers: Any) -> None:
        """End the watch, and what was started: `workers` is the loader's iterator, where there is one."""
        self._over.set()
        self.join()
        # Left to the collector, it would be some time. Meanwhile another worker may die, which raises.
        with contextlib.suppress(RuntimeError):
            if workers is not None:
                _compat.end(workers)
        for worker in self._spawned():
            worker.kill()
            worker.join()


@contextlib.contextmanager
def _importable(answer: ModuleType) -> Iterator[None]:
    """Let the answer be found by its name: it may come from a file that is called otherwise."""
    file = Path(str(answer.__file__))
    found = importlib.machinery.PathFinder.find_spec(answer.__name__)
    if found and found.origin and Path(found.origin).resolve() == file.resolve():
        yield
        return
    with tempfile.TemporaryDirectory(prefix="kata-answer-") as folder:
        shutil.copyfile(file, Path(folder) / f"{answer.__name__}.py")
        with mock.patch.object(sys, "path", [folder, *sys.path]):
            yield


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Spawn interpreters that do not run this one's main program again, and keep to one thread each."""
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        with mock.patch.dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1"):
            yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _stderr_into(descriptor: int) -> Iterator[None]:
    """Let processes that are started meanwhile write their last words to a file."""
    before = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
