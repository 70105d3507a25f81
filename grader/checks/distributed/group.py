"""The ranks of one job, and the watchdog that ends them."""

import contextlib
import os
import pickle
import signal
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from socket import socket
from typing import NamedTuple

from grader.checks.distributed import places, process
from grader.checks.distributed.places import Frame
from grader.checks.distributed.process import OUTPUT, PROC, STACK, RankCall, RankEnding, end_with_parent
from grader.checks.processes import cpu_seconds

TICK = 0.05
IDLE = 0.02
"""A waiting rank uses less than this share of a core: gloo's threads look around now and then."""
SETTLED = 0.25
"""Seconds without work after which the ranks that a failed one leaves behind are taken to be stuck."""
JOINING = 5.0
"""Seconds without work that ranks get while one is connecting: where many network namespaces come and
go, as in a sandbox, the kernel can keep a connection over loopback waiting for more than a second."""
MOST_OUTPUT = 4000


class _Running(NamedTuple):
    """A rank that has not reported. The file `proc` names it as /proc does: namespaces can differ."""

    pid: int
    report: Connection
    proc: Path


class RankGroup:
    """The ranks of one job, watched until each has reported, or until there is no hope that it will."""

    def __init__(self, job: RankCall, folder: Path, not_for_children: Iterable[Connection | socket]) -> None:
        self.job = job
        self.folder = folder
        self.not_for_children = tuple(not_for_children)
        self.readers: list[Connection] = []
        self.alive: set[int] = set()
        self.groups: list[int] = []
        self.running: dict[int, _Running] = {}
        self.endings: dict[int, RankEnding] = {}

    def run(self, caller: Connection) -> list[RankEnding]:
        """The endings in rank order. Raises EOFError when the caller hangs up."""
        try:
            port = 0 if self.job.init else self._start_store()
            for rank in range(self.job.world_size):
                self._start(rank, port)
            self._watch(caller)
        finally:
            self._kill()
        return [self._complete(rank, self.endings[rank]) for rank in range(self.job.world_size)]

    def _start(self, rank: int, port: int) -> None:
        reader, writer = Pipe(duplex=False)
        with writer:
            pid = self._fork(lambda: process.run(self.job, rank, port, self.folder, writer))
        self.running[rank] = _Running(pid, reader, self.folder / PROC.format(rank))
        self.readers.append(reader)

    def _start_store(self) -> int:
        """The TCP store of ranks that join by themselves, in a process of its own; returns its port."""
        reader, writer = Pipe(duplex=False)
        with reader, writer:
            self._fork(lambda: process.keep_store(writer))
            return int(reader.recv())

    def _fork(self, work: Callable[[], None]) -> int:
        launcher = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                os.setpgid(0, 0)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                end_with_parent(launcher, signal.SIGKILL)
                for connection in (*self.not_for_children, *self.readers):
                    connection.close()
                work()
            finally:
                os._exit(1)
        self.alive.add(pid)
        self.groups.append(pid)
        return pid

    def _watch(self, caller: Connection) -> None:
        """Hear reports until all ranks have ended, are stuck, or run out of time."""
        deadline = time.monotonic() + self.job.timeout
        idle, failing, patience = _Idle(), 0, self.job.grace
        while self.running:
            ready = wait([*(r.report for r in self.running.values()), caller], TICK)
            if caller in ready:
                raise EOFError("called off")
            for rank, running in list(self.running.items()):
                self._hear(rank, running)
            idle.look(self.running.values(), anew=bool(ready))
            failing += any(e.state != "left" for e in self.endings.values())
            if failing:
                over = idle.seconds >= SETTLED or failing * TICK >= self.job.grace
            elif idle.seconds >= patience:
                waits = [self._wait_of(frames) for frames in self._stacks().values()]
                is_joining = "init_process_group" in waits and patience < JOINING
                over = all(waits) and not is_joining
                if is_joining:
                    patience = JOINING
                else:
                    idle.ticks = 0
            else:
                over = time.monotonic() >= deadline
            if over:
                for rank, frames in self._stacks().items():
                    self.endings[rank] = RankEnding("stopped", frames=frames)
                return

    def _hear(self, rank: int, running: _Running) -> None:
        """Take down how a rank ended, if it has."""
        if running.report.poll():
            try:
                ending = pickle.loads(running.report.recv_bytes())
            except (EOFError, OSError):
                ending = RankEnding("died", status=self._end(running.pid))
        elif (status := self._reap(running.pid)) is not None:  # its own children can hold the pipe open
            ending = RankEnding("died", status=status)
        else:
            return
        self.endings[rank] = ending
        del self.running[rank]

    def _reap(self, pid: int) -> int | None:
        """The exit status of a child, or None while it runs."""
        found, status = os.waitpid(pid, os.WNOHANG)
        if not found:
            return None
        self.alive.discard(pid)
        return status

    def _end(self, pid: int) -> int:
        """The exit status of a child that hung up; it is killed if it does not end by itself."""
        for _ in range(100):
            if (status := self._reap(pid)) is not None:
                return status
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        self.alive.discard(pid)
        return os.waitpid(pid, 0)[1]

    def _wait_of(self, frames: Sequence[Frame]) -> str:
        return places.locate(frames, self.job.answer_file).wait

    def _stacks(self) -> dict[int, tuple[Frame, ...]]:
        """Ask every running rank where it is. A rank that does not say has no frames."""
        files = {rank: self.folder / STACK.format(rank) for rank in self.running}
        before = {rank: _text(file) for rank, file in files.items()}
        for running in self.running.values():
            os.kill(running.pid, signal.SIGUSR1)
        texts = before
        for _ in range(20):
            time.sleep(0.02)
            last, texts = texts, {rank: _text(file) for rank, file in files.items()}
            if texts == last and all(texts[rank] != before[rank] for rank in files):
                break
        return {rank: places.of_dump(texts[rank][len(before[rank]) :]) for rank in files}

    def _complete(self, rank: int, ending: RankEnding) -> RankEnding:
        """With what the rank printed, and for a fault where it was, as it wrote down while it died."""
        output = _text(self.folder / OUTPUT.format(rank), last=MOST_OUTPUT)
        _, _, fault = _text(self.folder / STACK.format(rank)).partition("Fatal Python error")
        if ending.state == "died":
            return replace(ending, output=output, frames=places.of_dump(fault))
        return replace(ending, output=output)

    def _kill(self) -> None:
        for group in self.groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        for pid in self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # a rank can leave its group
            os.waitpid(pid, 0)
        for connection in self.readers:
            connection.close()


class _Idle:
    """For how long the ranks have neither worked nor wanted to.

    On a busy machine a rank that could go on may get no core for a while; it is not idle. Counted in
    ticks of the watchdog, not by the clock: a machine that stands still stops both.
    """

    def __init__(self) -> None:
        self.ticks = 0
        self._used: dict[int, float] = {}

    @property
    def seconds(self) -> float:
        return self.ticks * TICK

    def look(self, ranks: Collection[_Running], *, anew: bool) -> None:
        used = {rank.pid: _worked(rank.pid) for rank in ranks}
        most = IDLE * self.seconds + 0.002
        worked = any(used[pid] - self._used.get(pid, 0) > most for pid in used)
        if anew or worked or not all(_is_asleep(rank.proc) for rank in ranks):
            self.ticks, self._used = 0, used
        else:
            self.ticks += 1


def _worked(pid: int) -> float:
    """CPU time of a process; a clock that never rests where it cannot be read."""
    used = cpu_seconds(pid)
    return time.monotonic() if used is None else used


def _is_asleep(proc: Path) -> bool:
    """Whether no thread of a process wants a core or waits for a disk; True where that is not to be seen."""
    with contextlib.suppress(OSError):
        for task in Path("/proc", _text(proc) or "none", "task").iterdir():
            name, _, rest = (task / "stat").read_text().rpartition(")")
            # gloo's own thread looks around a hundred times a second, also when nothing happens.
            if rest[1] in "RD" and not name.endswith("(gloo_tcp_loop"):
                return False
    return True


def _text(file: Path, last: int = 1 << 20) -> str:
    """The last bytes of a file, as text; nothing where there is none."""
    if not file.exists():
        return ""
    with file.open("rb") as stream:
        stream.seek(-min(last, file.stat().st_size), os.SEEK_END)
        return stream.read(last).decode(errors="replace")
