"""What one rank does, from its fork to its report."""

import contextlib
import ctypes
import datetime
import faulthandler
import importlib
import importlib.util
import linecache
import os
import pickle
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import torch
import torch.distributed as dist

from grader.checks import rng
from grader.checks._compat import delivered
from grader.checks.distributed import places
from grader.checks.distributed.places import Frame
from grader.checks.error_words import error_line, likely
from grader.checks.failure import CheckFailure
from grader.core.sanitize import message_of
from grader.diagnose.idioms import Site
from grader.protocol.feedback import Feedback

STACK = "rank{}.stack"
OUTPUT = "rank{}.out"
PROC = "rank{}.proc"


@dataclass(frozen=True)
class RankCall:
    """What the ranks of one run do. `call` is (worker, args), pickled: only the ranks open it."""

    world_size: int
    call: bytes
    answer_name: str
    answer_file: str
    init: bool
    seed: int
    timeout: float
    grace: float
    path: tuple[str, ...]
    folder: str


@dataclass(frozen=True)
class RankEnding:
    """How one rank ended.

    left: `result` is what the worker returned, pickled. raised: `error` is the exception's name and
    message, `likely` its cause, `check` the feedback of a CheckFailure, `todo` whether a stub raised it.
    died: `status` as `os.waitpid` gives it. stopped: the watchdog ended it at `frames`.
    """

    state: Literal["left", "raised", "died", "stopped"]
    result: bytes = b""
    error: str = ""
    check: Feedback | None = None
    todo: bool = False
    status: int = 0
    frames: tuple[Frame, ...] = ()
    output: str = ""
    likely: str = ""


def end_with_parent(parent: int, number: int) -> None:
    """Have the kernel send this process a signal when its parent ends (Linux only)."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, number)
    if os.getppid() != parent:
        os._exit(1)


def run(job: RankCall, rank: int, port: int, folder: Path, report: Connection) -> None:
    """Be rank `rank`: report how it went, then hold still until the launcher ends this process.

    The process group is not torn down here. It goes with the process, once every rank has reported,
    so that the others still see an open connection and keep waiting where they wait. Besides, gloo's
    destructor can hang.
    """
    with contextlib.suppress(OSError):  # no /proc
        (folder / PROC.format(rank)).write_text(str(Path("/proc/self").readlink()))
    with (
        (folder / OUTPUT.format(rank)).open("w", buffering=1, errors="replace") as output,
        (folder / STACK.format(rank)).open("w") as stack,
    ):
        sys.stdout = sys.stderr = output
        faulthandler.enable(stack, all_threads=False)
        faulthandler.register(signal.SIGUSR1, stack, all_threads=False)
        try:
            ending = RankEnding("left", result=_work(job, rank, port, folder))
        except BaseException as error:
            ending = _raised(error, job)
        report.send_bytes(pickle.dumps(ending))
        while True:
            signal.pause()


def keep_store(port: Connection) -> None:
    """Hold the TCP store that ranks join through, tell its port, and wait to be ended."""
    # torch exports the class under a condition, which hides it from type checkers.
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # type: ignore[attr-defined]
    port.send(store.port)
    while True:
        signal.pause()


def _work(job: RankCall, rank: int, port: int, folder: Path) -> bytes:
    torchrun = {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(job.world_size),
        "LOCAL_WORLD_SIZE": str(job.world_size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        # The store is not rank 0's: all ranks are clients of a process that is there.
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }
    if job.init:
        for name in torchrun:
            os.environ.pop(name, None)  # a group that is there tells who is who, however it was joined
    else:
        os.environ.update(torchrun)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo" if sys.platform == "linux" else "lo0"
    sys.path[:] = job.path
    os.chdir(job.folder)
    torch.set_num_threads(1)
    rng.set_globals(job.seed)
    worker: Callable[..., Any]
    worker, args = pickle.loads(job.call)
    answer = _load(job.answer_name, job.answer_file)
    rng.settle()
    if job.init:
        dist.init_process_group(
            "gloo",
            init_method=f"file://{folder}/store",
            rank=rank,
            world_size=job.world_size,
            # Longer than the watchdog's, which can say more.
            timeout=datetime.timedelta(seconds=job.timeout + 5),
        )
        dist.barrier()  # so that no rank runs the answer, and perhaps leaves, before all have joined
    result = worker(rank, job.world_size, answer, *args)
    if not torch.is_grad_enabled():
        raise CheckFailure(
            f"gradients are switched off for the rest of the program, on rank {rank}",
            hint="`with torch.no_grad():` switches them on again at its end, also after an error; "
            "torch.set_grad_enabled(False) by itself does not",
        )
    # Tensors from functional collectives may still be on their way, and are then pickled without numbers.
    ready = delivered(result)
    try:
        return pickle.dumps(ready)
    except Exception as error:
        raise CheckFailure(
            f"what rank {rank} returns cannot be pickled, and so does not leave its process",
            error=f"{type(error).__name__}: {message_of(error)}",
        ) from None


def _load(name: str, file: str) -> ModuleType:
    """Execute the answer's source, never a compiled file that an earlier version of it left.

    The modules of a project are all imported: the answer is asked for them by their names.
    """
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = Path(file).parent
    parts = sorted(folder.glob("[!_]*.py")) if spec.submodule_search_locations else []
    place = str(folder.parent if spec.submodule_search_locations else folder)
    if place not in sys.path:
        sys.path.append(place)
    exec(compile(Path(file).read_bytes(), file, "exec"), module.__dict__)
    for part in parts:
        importlib.import_module(f"{name}.{part.stem}")
    return module


def _raised(error: BaseException, job: RankCall) -> RankEnding:
    frames = places.of_traceback(error.__traceback__)
    stub = (
        isinstance(error, NotImplementedError)
        and places.is_in(frames[-1].file, job.answer_file)
        and linecache.getline(*frames[-1][:2]).strip().startswith("raise NotImplementedError")
    )
    return RankEnding(
        "raised",
        error=error_line(error),
        check=error.feedback if isinstance(error, CheckFailure) else None,
        todo=stub,
        frames=frames,
        likely=likely(error, Site.of(error, lambda file: places.is_in(file, job.answer_file))),
    )
