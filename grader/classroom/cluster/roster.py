"""Who may judge: the workers of a Dask scheduler, met, compared with this machine, lost and refused.

Every task goes to one worker, because a worker must have shown that it has what judging depends on.
What goes there and what comes back is text.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from typing import Any

from grader import sandbox
from grader.classroom.cluster import worker as remote
from grader.classroom.cluster.facts import difference, facts
from grader.classroom.cluster.member import ClusterWorker, Task
from grader.classroom.cluster.plain import plain_data_only, quiet
from grader.classroom.cluster.replies import (
    NO_REPLY,
    Inventory,
    WorkerRefused,
    fetch,
    first_line,
    inventory,
    lacking,
    with_lacks,
)
from grader.core.errors import KataError
from grader.core.sanitize import plain
from grader.course.exercise import Exercise
from grader.engine.pool import Pool

CONNECT = 10.0
"""Seconds for reaching the scheduler."""

LOOK_EVERY = 1.0
SETTLE = 20.0
"""Seconds in which the first workers may get ready, before those that are set the standard."""

PATIENCE, RESTART = 300.0, 15.0
"""Seconds to wait for a worker: where there is none, and where one may be about to come back."""

KEPT = "what was judged is kept"


class ClusterRoster:
    """The workers of one scheduler, and this machine's engine that they are compared with.

    `jobs` is how many answers a worker judges at a time (0: as many as it has threads); `tell` takes
    lines for the person who waits, such as which worker is refused and why. `inventory` holds the checks that
    all of them judge; it is empty until the first of them are ready.
    """

    def __init__(
        self,
        address: str,
        exercises: Sequence[Exercise],
        jobs: int,
        confined: bool,
        tell: Callable[[str], None],
    ) -> None:
        self.inventory: Inventory = {}
        self.local: Pool | None = None
        self._address = address
        self._exercises = exercises
        self._slugs = [exercise.slug for exercise in exercises]
        self._jobs = jobs
        self._confined = confined
        self._tell = tell
        self._facts = facts(self._slugs)
        self._workers: dict[str, ClusterWorker] = {}
        self._finished: SimpleQueue[tuple[ClusterWorker, Any]] = SimpleQueue()
        self._looked = self._seen = self._met = 0.0
        self._open = ExitStack()
        self._client: Any = None

    def connect(self) -> None:
        try:
            self._open.enter_context(quiet())
            self._open.enter_context(plain_data_only())
            import distributed
        except ImportError as missing:
            raise KataError(
                f"--cluster needs Dask ({missing.name} is missing); pip install 'torchkata[class]'"
            ) from None
        # One that does not connect would wait again, with a traceback, when Python disposes of it.
        client: Any = type("Client", (distributed.Client,), {"__del__": lambda self: None})
        try:
            self._client = client(self._address, timeout=CONNECT, set_as_default=False)
        except Exception as error:  # whatever Dask, TLS and the network come up with
            raise KataError(
                f"no Dask scheduler answers at {self._address} ({first_line(error)}); "
                "start one with `dask scheduler`, or correct the address"
            ) from None
        self._open.callback(self._client.close, timeout=1)
        self._seen = time.monotonic()

    def close(self) -> None:
        self._open.close()

    def ready(self) -> list[ClusterWorker]:
        return [worker for worker in self._workers.values() if worker.ready]

    def look(self) -> list[Any]:
        """See who has come and who has gone; the answers of those who have gone, to be judged again.

        Raises:
            KataError: the scheduler is gone, or nobody is left who could judge.
        """
        if time.monotonic() - self._looked < LOOK_EVERY:
            return []
        try:
            if self._client.status != "running":  # it would try for a while to get a new connection
                raise ConnectionError("the connection was closed")
            threads: dict[str, int] = self._client.nthreads()
        except Exception as error:
            why = first_line(error)
            raise KataError(
                f"the Dask scheduler at {self._address} is gone ({why}); {KEPT}: start it and run again"
            ) from None
        first, self._looked = not self._looked, time.monotonic()
        if first and not threads:
            self._tell(f"waiting for a worker to come to {self._address}")
        gone = [self._workers.pop(address) for address in self._workers.keys() - threads.keys()]
        for address in sorted(threads.keys() - self._workers.keys()):
            jobs = self._jobs or threads[address]
            settings = {"slugs": self._slugs, "jobs": jobs, "confined": self._confined, "facts": self._facts}
            worker = self._workers[address] = ClusterWorker(address, jobs, json.dumps(settings))
            self.send(worker, remote.introduce, json.dumps(self._slugs), then=self._compare)
        self._settle()
        self._expect_somebody()
        return [answer for worker in gone for answer in worker.take_back()]

    def _expect_somebody(self) -> None:
        if any(not worker.refused for worker in self._workers.values()):
            self._seen = time.monotonic()
            return
        alone = time.monotonic() - self._seen
        if self._workers and alone >= (RESTART if self.inventory else 0):
            raise KataError(
                f"no worker at {self._address} can judge, for the reasons above; {KEPT}: "
                "mend one or start another, and run again"
            )
        if alone >= PATIENCE:
            raise KataError(
                f"no worker has come to {self._address} for {PATIENCE:g} s; {KEPT}: start one with "
                f"`dask worker {self._address}` and run again"
            )

    def send(
        self,
        worker: ClusterWorker,
        function: Callable[..., str],
        *told: str,
        batch: Sequence[Any] = (),
        then: Callable[[ClusterWorker, dict[str, Any]], None] | None = None,
    ) -> None:
        """Have `function` run on a worker. Its reply goes to `then`, or comes out of `replies`."""
        future = self._client.submit(function, *told, workers=[worker.address], pure=False, retries=0)
        worker.tasks[future] = Task(list(batch), then)
        future.add_done_callback(lambda done: self._finished.put((worker, done)))

    def replies(self) -> Iterator[tuple[ClusterWorker, list[Any], dict[str, Any] | None]]:
        """Wait a little for a reply to a batch; None stands for one that is lost."""
        try:
            worker, future = self._finished.get(timeout=LOOK_EVERY)
        except Empty:
            return
        task = worker.tasks.get(future)
        if task is None:
            return  # its answers have been taken back
        try:
            reply = fetch(future)
        except TimeoutError:  # the worker may have gone just now, and then its tasks go with it
            self._finished.put((worker, future))
            return
        except WorkerRefused as refused:
            yield worker, self.refuse(worker, refused), None
            return
        del worker.tasks[future]
        if task.then is None or reply is None:
            yield worker, task.batch, reply
            return
        try:
            task.then(worker, reply)
        except WorkerRefused as refused:
            self.refuse(worker, refused)

    def refuse(self, worker: ClusterWorker, why: WorkerRefused) -> list[Any]:
        """Give a worker no more to judge, and say why; the answers that it had."""
        worker.ready, worker.refused = False, True
        self._tell(f"worker {worker.address} judges nothing: {plain(first_line(why))}")
        return worker.take_back()

    def _compare(self, worker: ClusterWorker, reply: dict[str, Any]) -> None:
        theirs = reply.get("facts")
        if not isinstance(theirs, dict):
            raise WorkerRefused(NO_REPLY)
        differs = difference({str(name): plain(str(fact))[:80] for name, fact in theirs.items()}, self._facts)
        if differs:
            raise WorkerRefused(differs)
        if self.local is None:
            self._start_local()
        self.send(worker, remote.start, worker.settings, then=self._meet)

    def _start_local(self) -> None:
        """Our own engine, for references; it warms up while the workers' do."""
        self.local = Pool(self._exercises, jobs=0, confined=self._confined and sandbox.unavailable() is None)
        self._open.callback(self.local.close)

    def _meet(self, worker: ClusterWorker, reply: dict[str, Any]) -> None:
        worker.checks = inventory(reply.get("checks"))
        self._met = self._met or time.monotonic()
        self._settle()

    def _settle(self) -> None:
        """Let workers judge that can judge the same. The first ones that get ready decide what that is."""
        met = [worker for worker in self._workers.values() if worker.checks is not None]
        if not self.inventory and met:
            others = any(w.checks is None and not w.refused for w in self._workers.values())
            if others and time.monotonic() - self._met < SETTLE:
                return
            assert self.local is not None
            self.local.__enter__()
            best = min(met, key=lambda worker: (len(lacking(worker.checks)), worker.address))
            self.inventory = with_lacks(self.local.inventory, best.checks or {})
        for worker in met:
            if not worker.ready and not worker.refused:
                self._admit(worker)

    def _admit(self, worker: ClusterWorker) -> None:
        if worker.checks == self.inventory:
            worker.ready = True
            return
        missing = sorted(lacking(worker.checks) ^ lacking(self.inventory))
        self.refuse(
            worker,
            WorkerRefused(
                f"it cannot judge what the others can ({missing[0][1]}); grade with workers of one kind"
                if missing
                else "its suites hold other checks; copy tests/ from here to there"
            ),
        )
