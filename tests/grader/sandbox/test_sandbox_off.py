"""Grading without a sandbox, and what is said where there can be none."""

# Jobs are written the way an answer would be.
# ruff: noqa: PTH109, PTH123, PTH208

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import sandbox
from grader.classroom.cluster import worker
from grader.sandbox import bubblewrap
from tests.grader.support.warm_worker import WarmWorker, add

MIB = 1 << 20


@pytest.fixture(scope="module")
def loose() -> Iterator[WarmWorker]:
    found = WarmWorker("Unconfined")
    yield found
    found.close()


COUNT = """
import gc
from grader import sandbox
gc.disable()
before = gc.get_stats()
sandbox.Unconfined()
print(gc.get_stats() == before, gc.get_freeze_count() > 0)
"""


def test_making_one_freezes_and_does_not_collect():
    told = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "True"], "a collection tears large pages into small ones"


def scratch():
    import os
    import tempfile

    with open("note.txt", "w") as file:
        file.write("mine")
    fds = sorted(int(name) for name in os.listdir("/dev/fd"))
    return os.getcwd(), tempfile.gettempdir(), os.listdir("."), len(fds), os.getsid(0) == os.getpid()


def test_children_work_in_a_folder_of_their_own_which_goes_with_them(loose):
    cwd, temporary, names, descriptors, leads = loose.run(scratch).value
    assert cwd == temporary
    assert names == ["note.txt"]
    assert descriptors == 5, "three standard ones, the one kept, the list itself"
    assert leads
    assert not Path(cwd).exists()


def use_memory(mebibytes):
    return len(bytearray(mebibytes << 20))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_memory_is_limited(loose):
    assert loose.run(use_memory, 20, memory_bytes=100 * MIB).value == 20 * MIB
    assert loose.run(use_memory, 200, memory_bytes=100 * MIB).error.startswith("MemoryError")


def leave_behind():
    import os
    import time

    if os.fork() == 0:
        time.sleep(1000)
    return "left"


def spin():
    while True:
        pass


def stop():
    import os
    import signal

    os.kill(os.getpid(), signal.SIGSTOP)


def crash():
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


def bomb():
    import os
    import time

    for _ in range(30):
        if os.fork() == 0:
            break
    time.sleep(1000)


def test_whatever_a_child_does_the_worker_goes_on(loose):
    before = loose.ask("state")
    assert loose.run(leave_behind).value == "left"
    for job in (spin, stop):
        result = loose.finish(loose.start(job), 0.1)
        assert (result.signal, result.timed_out) == (9, True)
    result = loose.run(crash)
    assert (result.signal, result.timed_out) == (9, False)
    assert loose.run(add, 2, 3).value == 5
    assert loose.ask("state") == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how many processes there are")
def test_a_fork_bomb_is_stopped(loose):
    result = loose.run(bomb, processes=20)
    assert (result.signal, result.timed_out) == (9, False)


def fake_bubblewrap(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def one_line(text: str | None) -> str:
    assert text is not None
    assert "\n" not in text
    assert "--sandbox off" in text
    return text


def test_bubblewrap_that_is_missing_is_told_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not installed" in one_line(sandbox.unavailable())
    (tmp_path / "dnf").write_text("")
    (tmp_path / "dnf").chmod(0o755)
    assert "sudo dnf install bubblewrap" in one_line(sandbox.unavailable())


def test_bubblewrap_that_fails_is_told_with_its_own_words(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    fake_bubblewrap(tmp_path, monkeypatch, "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    monkeypatch.setattr(bubblewrap, "SWITCHES", tmp_path)
    assert "setting up uid map: Permission denied" in one_line(sandbox.unavailable())
    assert "--privileged" in one_line(sandbox.unavailable())
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "max_user_namespaces").write_text("0\n")
    assert "sudo sysctl -w user.max_user_namespaces=15000" in one_line(sandbox.unavailable())


def test_a_worker_of_a_cluster_tells_that_it_has_no_sandbox(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    settings = {"slugs": ["merge_heads"], "jobs": 1, "confined": True}
    told = json.loads(worker.start(json.dumps(settings)))
    assert one_line(told["fault"]) == sandbox.unavailable()


def test_another_system_than_linux_is_told(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in one_line(sandbox.unavailable())
