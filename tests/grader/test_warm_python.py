"""A process that is forked from a warm one begins and ends as a new one does."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.grader.support import warm_python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets us adopt what is forked")

TELLS = """
import json, os, signal, sys, warnings

descriptors = sorted(int(name) for name in os.listdir("/proc/self/fd"))
ours = sorted(name for name in sys.modules if name.split(".")[0] in ("grader", "tests"))
told = {
    "argv": sys.argv[1:],
    "name": (__name__, sys.modules["__main__"].__spec__.name),
    "path": sys.path,
    "folder": os.getcwd(),
    "environment": dict(os.environ),
    "parent": os.getppid(),
    "session": os.getsid(0) == os.getpid(),
    "standard": [os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in range(3)],
    "streams": [(s.encoding, s.errors, s.line_buffering, s.isatty()) for s in (sys.stdout, sys.stderr)],
    "ours": ours,
    "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    "read": sys.stdin.read(),
}
print(json.dumps(told))
if sys.argv[1] == "raises":
    raise ValueError("raised")
if sys.argv[1] == "interrupts":
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
if sys.argv[1] == "asks":
    import atexit, subprocess
    line = [sys.executable, "-m", "grader", "0"]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True)
    print(json.loads(done.stdout)["parent"] == os.getpid(), "torch" in sys.modules)
    atexit.register(print, "at its end")
sys.exit(int(sys.argv[1]) if sys.argv[1].isdigit() else sys.argv[1])
"""


@pytest.fixture
def command(tmp_path):
    """Starts a `grader` of the folder's own, which tells what it began with."""
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader/__main__.py").write_text(TELLS)

    def start(word, **options):
        line = [sys.executable, "-m", "grader", word]
        options = {"cwd": tmp_path, "input": "typed\n", **options}
        return subprocess.run(line, capture_output=True, text=True, **options)

    return start


@pytest.mark.parametrize("word", ["0", "3", "words", "raises", "interrupts", "asks"])
def test_it_is_as_a_new_one(command, word, origin, tmp_path):
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}/one:two", "MADE_UP": "ä"}
    environment.pop("HOME", None)
    cold = command(word, env=environment, start_new_session=word == "3")
    with warm_python.warm(origin):
        warm = command(word, env=environment, start_new_session=word == "3")
    assert warm.returncode == cold.returncode
    (began, *more), (wanted, *others) = (done.stdout.splitlines() for done in (warm, cold))
    assert json.loads(began) == json.loads(wanted)
    last = (warm.stderr.splitlines() or [""])[-1], (cold.stderr.splitlines() or [""])[-1]
    assert last[0] == last[1]
    if word == "asks":
        assert (more, others) == (["True True", "at its end"], ["True False", "at its end"])


@pytest.mark.parametrize("variable", ["OMP_NUM_THREADS", "PYTHONHASHSEED", "LC_ALL"])
def test_what_reads_another_variable_when_it_starts_is_cold(variable, origin, tmp_path):
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader/__main__.py").write_text("import sys; print('torch' in sys.modules)")
    line = [sys.executable, "-m", "grader"]
    for told, value in (("True", {}), ("False", {variable: "7" if variable != "LC_ALL" else "C"})):
        environment = {**os.environ, **value}
        with warm_python.warm(origin):
            done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.stdout.strip() == told, done.stderr


def test_time_out_and_kill_end_it(origin, tmp_path):
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader/__main__.py").write_text("import time; time.sleep(600)")
    line = [sys.executable, "-m", "grader"]
    with warm_python.warm(origin), pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(line, cwd=tmp_path, capture_output=True, timeout=0.5)
    with warm_python.warm(origin), subprocess.Popen(line, cwd=tmp_path, start_new_session=True) as process:
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
