"""The process that others are forked from (see `warm_python`): it has imported torch, and nothing of ours.

It is started as a script, and ends when who started it does. A child that may start others has an origin of
its own, forked before anything is run in it.
"""

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import warm_python  # type: ignore[import-not-found]  # beside this script

WARM = (
    *("torch", "torch.distributed", "torch.func", "torch.nn.parallel", "torch.utils.data"),
    *("torch.utils.flop_counter", "pytest", "typer", "rich.console"),
)
"""What an engine imports before it has installed or run anything, and what verbs import."""

PR_SET_PDEATHSIG = 1


class Origin:
    """Forks a child for each request that comes on its channel."""

    def __init__(self, channel: socket.socket, environments: list[dict[str, str]], engine: str) -> None:
        self.channel = channel
        self.environments = environments
        self.engine = engine
        self.path = sys.path[1:]  # without this script's folder

    def serve(self) -> NoReturn:
        """Until the other side is gone."""
        while True:
            header, descriptors, _, _ = socket.recv_fds(self.channel, 4, 253)
            if not header:
                os._exit(0)
            request = json.loads(warm_python.receive(self.channel, *struct.unpack("!I", header)))
            pid = self._fork(request, descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            self.channel.sendall(struct.pack("!i", pid))

    def _fork(self, request: Mapping[str, Any], descriptors: list[int]) -> int:
        """An orphan, which whoever asked for it adopts before it begins."""
        told, tell = os.pipe()
        begins, begin = os.pipe()
        between = os.fork()
        if between == 0:
            if os.fork() == 0:
                if request["session"]:
                    os.setsid()
                os.write(tell, str(os.getpid()).encode())
                for descriptor in (told, tell, begin):
                    os.close(descriptor)
                os.read(begins, 1)
                os.close(begins)
                self._become(request, descriptors)
            os._exit(0)
        os.waitpid(between, 0)
        pid = int(os.read(told, 20))
        for descriptor in (told, tell, begins, begin):
            os.close(descriptor)
        return pid

    def _become(self, request: Mapping[str, Any], descriptors: list[int]) -> NoReturn:
        status = 1
        try:
            self.channel.close()
            others = request["words"][:2] == ["-m", "grader"]
            channel = self._own_origin() if others else None
            channel = _only(dict(zip((0, 1, 2, *request["keep"]), descriptors, strict=True)), channel)
            self._begin_anew(request, channel)
            status = _run(request["words"])
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def _own_origin(self) -> socket.socket:
        """A fork of this one for what this child is going to start; it ends with it."""
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(0)
            nothing = os.open(os.devnull, os.O_RDWR)
            self.channel = _only(dict.fromkeys(range(3), nothing), theirs) or theirs
            self.serve()
        theirs.close()
        return ours

    def _begin_anew(self, request: Mapping[str, Any], channel: socket.socket | None) -> None:
        """What a new interpreter finds."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        time.tzset()
        sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
        places = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
        first = "" if request["words"][0] == "-c" else str(Path.cwd())
        sys.path[:] = [first, *map(os.path.abspath, places), *self.path]
        sys.path_importer_cache.clear()
        sys.modules["numpy"].random.seed()
        now = sys.stdin
        sys.stdin = sys.__stdin__ = open(0, encoding=now.encoding, errors=now.errors, closefd=False)  # noqa: SIM115
        sys.stdout = sys.__stdout__ = _written(1, sys.stdout)  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = _written(2, sys.stderr)  # type: ignore[misc]
        sys.modules["__main__"] = types.ModuleType("__main__")
        if channel:
            origin = warm_python.Origin(channel, tuple(self.environments), self.engine, os.getpid())
            warm_python.fork_from(origin)


def _only(wanted: Mapping[int, int], channel: socket.socket | None) -> socket.socket | None:
    """Keep open these descriptors, under these numbers, and the channel, under one that is none of them."""
    above = max(wanted) + 1
    moved = {name: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, above) for name, fd in wanted.items()}
    kept = fcntl.fcntl(channel.detach(), fcntl.F_DUPFD_CLOEXEC, above) if channel else -1
    for name, fd in moved.items():
        os.dup2(fd, name)
    for name in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if name not in wanted and name != kept:
            with contextlib.suppress(OSError):  # the listing's own
                os.close(name)
    return socket.socket(fileno=kept) if channel else None


def _written(descriptor: int, like: io.TextIOWrapper) -> io.TextIOWrapper:
    """Standard output or error, as Python opens them."""
    raw = open(descriptor, "wb", 0 if like.write_through else -1, closefd=False)  # noqa: SIM115
    lines = not like.write_through and (descriptor == 2 or os.isatty(descriptor))
    through = like.write_through
    return io.TextIOWrapper(raw, like.encoding, like.errors, line_buffering=lines, write_through=through)


def _run(words: list[str]) -> int:
    """The exit status of Python with these arguments."""
    interrupted = False
    try:
        if words[0] == "-c":
            sys.argv[:] = ["-c", *words[2:]]
            exec(compile(words[1], "<string>", "exec"), vars(sys.modules["__main__"]))
        else:
            sys.argv[:] = ["-m", *words[2:]]
            runpy._run_module_as_main(words[1])  # type: ignore[attr-defined]  # what `-m` calls
        status = 0
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else left.code is not None
        if left.code is not None and not isinstance(left.code, int):
            print(left.code, file=sys.stderr)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        status = 1
        interrupted = isinstance(error, KeyboardInterrupt)
    threading._shutdown()  # type: ignore[attr-defined]  # as an interpreter ends, but torch is not taken down
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = 120
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return int(status) & 0xFF


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descriptor, environments, engine = json.loads(sys.argv[1])
    for name in WARM:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    gc.collect()
    gc.freeze()
    Origin(socket.socket(fileno=descriptor), environments, engine).serve()


if __name__ == "__main__":
    main()
