"""Python as tests start it, without waiting for torch each time: forked from a process that has imported it.

Within `warm`, `subprocess.Popen` forks `python -m grader`, `python -m pytest` and the engine from there, in
this process and in every verb that it starts. They are children of whoever started them, as ever, and begin
as new ones do: with nothing of ours imported, and descriptors, folder, environment and path as they were
asked for. What a fork could not give, such as a variable that torch reads when it is imported, starts cold.
"""

import contextlib
import ctypes
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

STARTING = ("GLIBC_", "LANG", "LC_", "LD_", "MALLOC_", "MKL_", "OMP_", "OPENBLAS_", "PYTHON", "TORCH")
STYLES = {"FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR", "PY_COLORS", "TERMINAL_WIDTH"}
LATER = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONBREAKPOINT", "TORCHKATA_ROOT"}
"""Variables that are read when a process or a module begins; of those called so, `LATER` ones are not."""

MOST_DESCRIPTORS = 250  # which one message may carry
PR_SET_CHILD_SUBREAPER = 36


class Origin(NamedTuple):
    """A process that forks itself when it is asked to, and the environments that it stands for."""

    channel: socket.socket
    environments: tuple[Mapping[str, str], ...]
    engine: str
    owner: int

    def stands_for(self, environment: Mapping[str, str]) -> bool:
        """Whether what begins with this environment would begin as the origin did."""
        names = {name for every in (environment, *self.environments) for name in every}
        return all(
            environment.get(name) in {every.get(name) for every in self.environments}
            for name in names - LATER
            if name in STYLES or name.startswith(STARTING)
        )

    def fork(self, request: Mapping[str, Any], descriptors: list[int]) -> int:
        """A child of this process, which is what was requested."""
        prctl = ctypes.CDLL(None).prctl
        with _asking:
            prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # the child is an orphan at first, and comes to us
            try:
                text = json.dumps(request).encode()
                socket.send_fds(self.channel, [struct.pack("!I", len(text))], descriptors)
                self.channel.sendall(text)
                return int(struct.unpack("!i", receive(self.channel, 4))[0])
            finally:
                prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


_asking = threading.Lock()
_origin: Origin | None = None
_begin: Callable[[], Origin] | None = None
_Cold = subprocess.Popen


class WarmPopen(_Cold):  # type: ignore[type-arg]
    """A process that is forked where that gives the same, and else is started."""

    def _execute_child(  # type: ignore[no-untyped-def]
        self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, flags, shell, *rest
    ):
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, _, *users, session = rest[:12]
        pipes = (p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
        usual = not (preexec_fn or shell or executable) and close_fds and users == [None, None, None, -1]
        usual = usual and {*rest[12:]} <= {-1}  # a process group, from Python 3.11 on
        request = _request(args, cwd, env, [*pass_fds], bool(session)) if usual else None
        if request is None or _origin is None:
            super()._execute_child(  # type: ignore[misc]
                args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, flags, shell, *rest
            )
            return
        standard = [own if fd == -1 else fd for own, fd in enumerate((p2cread, c2pwrite, errwrite))]
        self.pid = _origin.fork(request, [*standard, *pass_fds])
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def _request(args: Any, cwd: Any, env: Any, keep: list[int], session: bool) -> dict[str, Any] | None:
    """What the origin is to become; None where it cannot, and while there is none."""
    global _origin
    environment = dict(os.environ if env is None else env)
    with contextlib.suppress(TypeError):  # a number, or no list at all
        words = [os.fspath(word) for word in args] if isinstance(args, list | tuple) else []
        folder = str(Path.cwd() / os.fspath("" if cwd is None else cwd))
        texts = (*words, folder, *environment, *environment.values())
        if len(words) < 3 or words[0] != sys.executable or not all(isinstance(text, str) for text in texts):
            return None
        if words[1] != "-c" and words[1:3] not in (["-m", "grader"], ["-m", "pytest"]):
            return None
        if _origin is None and _begin is not None and threading.current_thread() is threading.main_thread():
            _origin = _begin()
        if _origin is None or _origin.owner != os.getpid() or not Path(folder).is_dir():
            return None
        if (words[1] == "-c" and words[2] != _origin.engine) or len(keep) > MOST_DESCRIPTORS - 3:
            return None
        if _origin.stands_for(environment):
            place = {"folder": folder, "environment": environment, "keep": keep, "session": session}
            return {"words": words[1:], **place}
    return None


class Start:
    """An origin with these variables, which is started once it is needed; `engine` is an engine's code."""

    def __init__(self, variables: Mapping[str, str], engine: str) -> None:
        self.before = dict(os.environ)
        self.wanted = {**self.before, **variables}
        self.wanted.pop("PYTHONPATH", None)
        self.engine = engine
        self.origin: Origin | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self) -> Origin:
        if self.origin is None:
            ours, theirs = socket.socketpair()
            told = json.dumps([theirs.fileno(), [self.before, self.wanted], self.engine])
            command = [sys.executable, str(Path(__file__).with_name("warm_origin.py")), told]
            keep = [theirs.fileno()]
            self._process = _Cold(command, env=self.wanted, pass_fds=keep, stdin=subprocess.DEVNULL)
            theirs.close()
            self.origin = Origin(ours, (self.before, self.wanted), self.engine, os.getpid())
        return self.origin

    def close(self) -> None:
        """End it."""
        if self.origin is not None and self._process is not None:
            self.origin.channel.close()
            self._process.wait()


@contextlib.contextmanager
def warm(start: Start) -> Iterator[None]:
    """Fork from this origin what is started meanwhile, where a fork can be the same."""
    global _begin, _origin
    if sys.platform == "linux":
        _begin, _origin, subprocess.Popen = start, start.origin, WarmPopen  # type: ignore[misc]
    try:
        yield
    finally:
        _begin, _origin, subprocess.Popen = None, None, _Cold  # type: ignore[misc]


def fork_from(origin: Origin) -> None:
    """Be a process that was forked, and forks others from this origin."""
    global _origin
    _origin, subprocess.Popen = origin, WarmPopen  # type: ignore[misc]


def receive(channel: socket.socket, count: int) -> bytes:
    """So many bytes of what comes."""
    found = b""
    while len(found) < count:
        piece = channel.recv(count - len(found))
        if not piece:
            raise EOFError("the process that others are forked from has ended")
        found += piece
    return found
