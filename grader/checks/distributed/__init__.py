"""Run an answer on several ranks: real processes, joined by gloo over the loopback interface.

Ranks that wait for each other are told apart from ranks that compute. So a hang is reported in about a
second, with the collective that each rank waits in, instead of when some time-out is over.
"""

import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch.distributed as dist

from grader.checks.distributed.collectives import count_collectives, in_words
from grader.checks.distributed.launcher import Launcher
from grader.checks.distributed.process import RankCall, RankEnding
from grader.checks.distributed.report import RankFailure, failure_of
from grader.core.timeout import at_most_the_alarm

__all__ = ["count_collectives", "in_words", "run_ranks"]

_launcher: Launcher | None = None


def is_available() -> str | None:
    """Why ranks cannot be started on this machine, or None where they can."""
    if not hasattr(os, "fork"):
        return "needs processes that fork, which this system lacks"
    if not (dist.is_available() and dist.is_gloo_available()):
        return "needs a PyTorch with torch.distributed and gloo"
    return None


def prepare() -> None:
    """Fork the process that all ranks of this process will come from; once is enough.

    Call it before the first backward: autograd does not survive a fork.
    """
    _of_this_process()


def _of_this_process() -> Launcher:
    global _launcher
    # A fork inherits the variable, but the launcher is its parent's.
    if _launcher is None or _launcher.parent != os.getpid():
        _launcher = Launcher()
    return _launcher


def run_ranks(
    world_size: int,
    worker: Callable[..., Any],
    *args: Any,
    answer: ModuleType,
    timeout: float = 15.0,
    init: bool = True,
    seed: int = 0,
    grace: float = 1.0,
) -> list[Any]:
    """Run `worker(rank, world_size, answer, *args)` on every rank, and give the results in rank order.

    Args:
        worker: a module-level function of the suite. It and its arguments and results are pickled:
            tensors and plain data.
        answer: the module under judgement; each rank loads it afresh from its file.
        timeout: seconds for the whole run, at most what is left of the check's own.
        init: join the ranks to a gloo group first; they have no other way to tell who is who. Without it,
            they only find the environment that `torchrun` makes: RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR,
            MASTER_PORT.
        seed: seeds the global random streams, the same on every rank.
        grace: seconds for which all ranks may wait before that counts as a hang. Raise it for answers
            that are to run into a time-out of their own.

    Raises:
        RankFailure: a rank raised or died, the ranks wait for each other, or time ran out.
        RankTodo: a rank reached a stub that is not filled in.

    Example:
        def average(rank, world_size, answer):
            return answer.all_mean(torch.tensor([float(rank)]))


        @pytest.mark.multi_process
        def test_mean_over_ranks(answer):
            for mean in run_ranks(2, average, answer=answer):
                expect_close(mean, torch.tensor([0.5]), "all_mean(x)")
    """
    file = str(answer.__file__)
    job = RankCall(
        world_size=world_size,
        call=pickle.dumps((worker, args)),
        answer_name=answer.__name__,
        answer_file=file,
        init=init,
        seed=seed,
        timeout=at_most_the_alarm(timeout),
        grace=grace,
        path=tuple(sys.path),
        folder=str(Path.cwd()),
    )
    endings = _submit(job)
    for rank, ending in enumerate(endings):
        for line in ending.output.splitlines():
            print(f"[rank {rank}] {line}")
    failure = failure_of(endings, file, job.timeout)
    if failure is not None:
        raise failure
    return [pickle.loads(ending.result) for ending in endings]


def _submit(job: RankCall) -> list[RankEnding]:
    global _launcher
    try:
        with _of_this_process().connect() as connection:
            connection.send_bytes(pickle.dumps(job))
            endings: list[RankEnding] = pickle.loads(connection.recv_bytes())
            return endings
    except (EOFError, ConnectionError):
        _launcher = None
        raise RankFailure("the process that starts the ranks was killed: out of memory?") from None
