"""What a process that runs somebody's answer may see and use.

Two layers. `command` starts a warm engine inside bubblewrap: no network, no files but the ones it is
given, no environment. Inside, every answer gets a forked child of its own, and `Confinement` shuts
that child off from the engine and from all other children in some three milliseconds. `Unconfined` has
the same face for grading without a sandbox.

A confined child is the first process of its namespace. So when it ends, however it ends, the kernel
ends everything it started. And signals that it sends to itself do nothing unless it handles them; real
faults (a bad address, `abort`) end it as usual, with SIGSEGV.
"""

import abc
import contextlib
import gc
import os
import resource
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from grader.core.errors import KataError
from grader.sandbox import namespaces, system_calls
from grader.sandbox.bubblewrap import WORK
from grader.sandbox.pulse import Pulse
from grader.sandbox.rlimits import Limits, apply, close_all_but, lower

LOOK_EVERY = 0.05
"""Seconds between two looks at how many processes a child holds."""


class Ending(NamedTuple):
    """How a child ended: by an exit status, or by a signal, perhaps because its time was up.

    `waited`: seconds in which it did not compute.
    """

    exit: int
    signal: int
    timed_out: bool
    waited: float


class Sandbox(abc.ABC):
    """Forks children for a warm process with a single thread, and ends them.

    Making one freezes what Python holds at that moment, so that children share it. Nothing is collected
    first: that writes all over memory, and large pages that are written to are torn into small ones.
    `hide` names the folders that children must not read.
    """

    def __init__(self, *, hide: Iterable[Path] = ()) -> None:
        self._limits: dict[int, Limits] = {}
        self._began: dict[int, float] = {}
        gc.freeze()

    def fork(self, limits: Limits, keep: Collection[int] = ()) -> int:
        """Like os.fork; the child (0) works in an empty folder and has no descriptors but `keep`.

        Descriptors 0 to 2 lead to /dev/null unless they are kept. End every child with `wait` or
        `kill`. Raises KataError if the child could not be set up.
        """
        ready, say = os.pipe()
        pid = self._fork()
        if pid == 0:
            try:
                self._settle(limits, {*keep, say})
            except BaseException as error:
                os.write(say, f"{type(error).__name__}: {error}".encode())
                os._exit(1)
            os.close(say)
            return 0
        os.close(say)
        with os.fdopen(ready, "rb") as pipe:
            trouble = pipe.read().decode()
        self._limits[pid], self._began[pid] = limits, time.monotonic()
        if trouble:
            self.kill(pid)
            raise KataError(f"cannot set up a process for an answer: {trouble}; try --sandbox off")
        return pid

    def wait(self, pid: int, seconds: float, pulse: Pulse | None = None) -> Ending:
        """Wait for a child to end.

        End it when `seconds` are over, its `pulse` is late, or it holds too many processes.
        """
        limits = self._limits[pid]
        end = time.monotonic() + seconds
        timed_out = False
        _pause(pid, min(LOOK_EVERY, seconds))  # most have ended by then, and looking takes time
        while not (ended := os.wait4(pid, os.WNOHANG))[0]:
            deadline = min(end, pulse.due()) if pulse else end
            timed_out = time.monotonic() >= deadline
            if timed_out or self.processes() > limits.processes:
                self.end(pid)
                ended = os.wait4(pid, 0)
                break
            _pause(pid, min(LOOK_EVERY, deadline - time.monotonic()))
        del self._limits[pid]
        self._clear(pid)
        _, status, usage = ended
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        spent = usage.ru_utime + usage.ru_stime
        # The limit's clock samples at every tick, this one counts: on a busy machine they differ a lot.
        timed_out = timed_out or (number == signal.SIGKILL and spent >= limits.cpu_seconds / 2)
        waited = round(max(0.0, time.monotonic() - self._began.pop(pid) - spent), 3)
        return Ending(0 if number else os.WEXITSTATUS(status), number, timed_out, waited)

    def kill(self, pid: int) -> Ending:
        """End a child and everything it started, whether or not it has ended by itself."""
        return self.wait(pid, 0)

    def end(self, pid: int) -> None:
        """Have a child end, and all that it has started, which else may leave it no time to do so."""
        held = self._held()
        os.kill(pid, signal.SIGKILL)
        for other, home in held.items():
            if home == held.get(pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(other, signal.SIGKILL)

    def processes(self) -> int:
        """How many processes the children hold now, as far as this machine can tell."""
        return len(self._held())

    @abc.abstractmethod
    def _held(self) -> dict[int, int]:
        """The children and all processes that they have started, each with what those of one child share."""

    @abc.abstractmethod
    def _fork(self) -> int:
        """os.fork, with what must be done just before and after it."""

    @abc.abstractmethod
    def _settle(self, limits: Limits, keep: set[int]) -> None:
        """In the child: give up everything that an answer should not have."""

    def _clear(self, pid: int) -> None:
        """Remove what a child left behind; nothing where the kernel has done so."""
        return


def prepare() -> None:
    """Do the slow part of making a `Confinement`: a parent does for all its workers what each would do."""
    for network in (True, False):
        system_calls.build_filter(network=network)
    namespaces.counts_processes_by_namespace()


class Confinement(Sandbox):
    """Children that see nothing but themselves, inside the bubblewrap of `command`.

    Make one early, in a process of its own: that process moves into new namespaces and becomes the
    first of them, and the folders `hide` are gone from it for good.
    """

    def __init__(self, *, hide: Iterable[Path] = ()) -> None:
        self._filters = {network: system_calls.build_filter(network=network) for network in (True, False)}
        self._user = os.getuid(), os.getgid()
        namespaces.unshare(namespaces.NEW_MOUNTS)
        for place in namespaces.mounts_below("/proc"):
            namespaces.uncover(place)  # or the kernel would refuse children a /proc of their own
        # They are the machine's: root, who owns them, could lock everybody out; their times would be a note.
        devices = (place for place in namespaces.mounts_below("/dev") if not Path(place).is_dir())
        namespaces.keep_as_they_are(devices)
        namespaces.unshare(
            namespaces.NEW_USER | namespaces.NEW_PIDS | namespaces.NEW_MOUNTS | namespaces.NEW_NETWORK
        )
        namespaces.map_user(*self._user)
        for folder in hide:
            if folder.is_dir():
                namespaces.cover(str(folder), 4096, read_only=True)
        self._kept = namespaces.mounts_below(WORK)
        _leave_a_guard()
        self._home = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        super().__init__()

    def _held(self) -> dict[int, int]:
        return namespaces.children_of_children(self._proc)

    def _fork(self) -> int:
        # What sockets there still are, children that share this network could find.
        left = namespaces.NEW_NETWORK if namespaces.has_sockets() else 0
        namespaces.unshare(namespaces.NEW_PIDS | left)
        pid = -1
        try:
            pid = os.fork()
        finally:
            if pid:  # in the parent, which may fork for itself again
                namespaces.join(self._home, namespaces.NEW_PIDS)
        return pid

    def _settle(self, limits: Limits, keep: set[int]) -> None:
        os.setsid()  # a signal to its group goes past every namespace
        apply(limits)
        namespaces.unshare(namespaces.NEW_MOUNTS)
        namespaces.show_own_processes()
        namespaces.cover(WORK, limits.tmp_bytes, keep=self._kept)
        namespaces.cover("/dev/shm", limits.tmp_bytes)
        os.chdir(WORK)
        namespaces.unshare(namespaces.NEW_USER | namespaces.NEW_IPC)
        namespaces.map_user(*self._user, proc=self._proc)
        if limits.network:
            namespaces.unshare(namespaces.NEW_NETWORK)
            namespaces.loopback_up()
        if namespaces.counts_processes_by_namespace():
            lower(resource.RLIMIT_NPROC, limits.processes)
        close_all_but(keep)
        namespaces.drop_capabilities()
        self._filters[limits.network].load()


class Unconfined(Sandbox):
    """Children with a session, limits and a scratch folder. Nothing is hidden, `hide` neither."""

    def __init__(self, *, hide: Iterable[Path] = ()) -> None:
        self._scratch: dict[int, str] = {}
        super().__init__(hide=hide)

    def _held(self) -> dict[int, int]:
        sessions = {pid: namespaces.session(pid) for pid in namespaces.visible()}
        return {pid: session for pid, session in sessions.items() if session in self._scratch}

    def _fork(self) -> int:
        scratch = tempfile.mkdtemp(prefix="kata-")
        pid = os.fork()
        self._scratch[pid] = scratch
        return pid

    def _settle(self, limits: Limits, keep: set[int]) -> None:
        os.setsid()
        scratch = self._scratch[0]
        os.chdir(scratch)
        os.environ["TMPDIR"] = tempfile.tempdir = scratch
        apply(limits)
        close_all_but(keep)

    def _clear(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        shutil.rmtree(self._scratch.pop(pid), ignore_errors=True)


def _leave_a_guard() -> None:
    """Go on in a forked process, the first of the new namespace; the old one waits and ends with it."""
    pid = os.fork()
    if pid == 0:
        namespaces.die_with_parent()
        return
    close_all_but(())
    _, status = os.waitpid(pid, 0)
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


def _pause(pid: int, seconds: float) -> None:
    """Sleep until a child ends, at most `seconds`."""
    if not hasattr(os, "pidfd_open"):
        time.sleep(max(0.0, min(seconds, 0.005)))
        return
    descriptor = os.pidfd_open(pid)
    try:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        ended.poll(max(0.0, seconds) * 1000)
    finally:
        os.close(descriptor)
