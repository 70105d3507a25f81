"""A warm worker to send little jobs to: each is a function, run in a forked child of a sandbox.

A job's source is what travels, so it imports what it uses. The fixture `worker` runs a test twice: by
whoever runs the tests and, if that is root, by an ordinary user as well.
"""

import inspect
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grader import sandbox
from grader.course.paths import ROOT

NOBODY = 65534


def serve(descriptor: int, kind: str, hide: list[str], imports: list[str]) -> None:
    """The worker itself: its source travels, so it imports what it uses."""
    import importlib
    import json
    import os
    import socket
    import time
    from pathlib import Path

    from grader import sandbox
    from grader.core.errors import KataError

    for name in imports:
        importlib.import_module(name)
    if "torch" in imports:
        importlib.import_module("torch").set_num_threads(1)
    stream = socket.socket(fileno=descriptor).makefile("rwb")
    box = getattr(sandbox, kind)(hide=[Path(folder) for folder in hide])
    pipes = {}

    def start(source, name, args, limits):
        reader, writer = os.pipe()
        try:
            pid = box.fork(sandbox.Limits(**limits), keep=(writer,))
        except KataError as error:
            os.close(reader)
            os.close(writer)
            return {"fault": str(error)}
        if pid == 0:
            scope, status = {"__name__": "job"}, 1
            try:
                exec(source, scope)
                told = {"value": scope[name](*args)}
            except BaseException as error:
                told = {"error": f"{type(error).__name__}: {error}"}
            try:
                os.write(writer, json.dumps(told).encode())
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        pipes[pid] = reader
        return pid

    def finish(pid, seconds):
        ending = box.wait(pid, seconds)
        with os.fdopen(pipes.pop(pid), "rb") as pipe:
            told = json.loads(pipe.read() or b"{}")
        return {**ending._asdict(), "value": told.get("value"), "error": told.get("error")}

    def state():
        mounts = len(Path("/proc/self/mountinfo").read_text().splitlines())
        fds = len(list(Path("/proc/self/fd").iterdir()))
        return {"fds": fds, "mounts": mounts, "processes": box.processes()}

    def until(processes):
        while box.processes() < processes:
            time.sleep(0.001)

    verbs = {"start": start, "finish": finish, "state": state, "until": until, "pid": os.getpid}
    for line in stream:
        verb, *rest = json.loads(line)
        stream.write(json.dumps(verbs[verb](*rest)).encode() + b"\n")
        stream.flush()


class Result(dict[str, Any]):
    """What a job returned or raised, and how its process ended."""

    value = property(lambda self: self["value"])
    error = property(lambda self: self["error"] or "")
    exit = property(lambda self: self["exit"])
    signal = property(lambda self: self["signal"])
    timed_out = property(lambda self: self["timed_out"])


class WarmWorker:
    """The outside of a worker. `ordinary` runs it as a user without any rights, which takes root."""

    def __init__(
        self,
        kind: str = "Confinement",
        *,
        readable: Sequence[Path] = (),
        hide: Sequence[Path] = (),
        imports: Sequence[str] = (),
        ordinary: bool = False,
    ) -> None:
        self.ordinary = ordinary or os.geteuid() != 0
        ours, theirs = socket.socketpair()
        settings = (theirs.fileno(), kind, [str(folder) for folder in hide], list(imports))
        code = f"{textwrap.dedent(inspect.getsource(serve))}\nserve(*{settings!r})"
        argv = [sys.executable, "-c", code]
        if kind == "Confinement":
            argv = sandbox.command(argv, readable=readable)
        environment = {**os.environ, **sandbox.ENVIRONMENT, "KATA_SECRET": "swordfish"}
        prefix = as_nobody() if ordinary else []
        self._process = subprocess.Popen([*prefix, *argv], pass_fds=[theirs.fileno()], env=environment)
        theirs.close()
        self._stream = ours.makefile("rwb")
        ours.close()

    def ask(self, verb: str, *args: Any) -> Any:
        self._stream.write(json.dumps([verb, *args]).encode() + b"\n")
        self._stream.flush()
        answer = self._stream.readline()
        assert answer, "the worker is gone"
        return json.loads(answer)

    def start(self, job: Callable[..., Any], *args: Any, **limits: Any) -> Any:
        return self.ask("start", textwrap.dedent(inspect.getsource(job)), job.__name__, args, limits)

    def finish(self, pid: int, seconds: float = 120.0) -> Result:
        return Result(self.ask("finish", pid, seconds))

    def run(self, job: Callable[..., Any], *args: Any, **limits: Any) -> Result:
        return self.finish(self.start(job, *args, **limits))

    def close(self) -> None:
        self._stream.close()
        self._process.wait(20)


def as_nobody() -> list[str]:
    """A command prefix: root's home shows nothing but this Python, and the user is nobody."""
    home = Path.home()
    line = ["bwrap", "--dev-bind", "/", "/", "--perms", "0755", "--tmpfs", str(home)]
    for folder in sorted({Path(sys.prefix), Path(sys.base_prefix), ROOT}):
        if folder.is_relative_to(home):
            for parent in reversed(folder.relative_to(home).parents):
                line += ["--perms", "0755", "--dir", str(home / parent)]
            line += ["--ro-bind", str(folder), str(folder)]
    return [*line, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]


def why_not_as_nobody() -> str | None:
    if os.geteuid() != 0:
        return "these tests already run as an ordinary user"
    if shutil.which("setpriv") is None:
        return "setpriv (util-linux) is not installed"
    started = subprocess.run(
        [*as_nobody(), sys.executable, "-c", "import grader.sandbox"], cwd=ROOT, capture_output=True
    )
    return None if started.returncode == 0 else "an ordinary user cannot run this Python"


class Files(NamedTuple):
    """Files outside: `suites` is given to the engine, `hidden` inside it is kept from children."""

    suites: Path
    hidden: Path
    secret: Path


@pytest.fixture(scope="session")
def files() -> Iterator[Files]:
    # In the very folder that children get an empty one over, and open to everybody.
    root = Path(tempfile.mkdtemp(prefix="kata test ", dir=sandbox.WORK))
    found = Files(root / "suites", root / "suites" / "hidden", root / "secret.txt")
    found.hidden.mkdir(parents=True)
    (found.suites / "public.txt").write_text("public")
    (found.hidden / "expected.txt").write_text("swordfish")
    found.secret.write_text("swordfish")
    for path in (root, *root.rglob("*")):
        path.chmod(0o755)
    yield found
    shutil.rmtree(root)


@pytest.fixture(scope="session")
def confines() -> None:
    """Skips where bubblewrap, nested as ours are, cannot run; elsewhere the sandbox has to."""
    pytest.importorskip("pyseccomp", reason="pyseccomp is not installed", exc_type=Exception)
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    layer = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--cap-drop", "ALL", "--uid", "1000"]
    tried = subprocess.run([*layer, "--proc", "/proc", *layer, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"bubblewrap cannot run here: {tried.stderr.strip()}")
    assert sandbox.unavailable() is None


@pytest.fixture(scope="session")
def workers(confines: None, files: Files) -> Iterator[dict[str, WarmWorker]]:
    started: dict[str, WarmWorker] = {}
    yield started
    for worker in started.values():
        worker.close()


@pytest.fixture(params=["caller", "nobody"])
def worker(
    request: pytest.FixtureRequest, workers: dict[str, WarmWorker], files: Files
) -> Iterator[WarmWorker]:
    """A worker in the sandbox. Whatever the test did: nothing is left, and the next child runs."""
    name = request.param
    if name not in workers:
        if name == "nobody" and (reason := why_not_as_nobody()):
            pytest.skip(reason)
        workers[name] = WarmWorker(readable=[files.suites], hide=[files.hidden], ordinary=name == "nobody")
    found = workers[name]
    before = found.ask("state")
    yield found
    assert found.ask("state") == before
    assert before["processes"] == 0
    assert found.run(add, 2, 3).value == 5


def add(a, b):
    return a + b
