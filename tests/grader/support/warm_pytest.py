"""pytest as a learner runs it, without waiting for torch each time: forked from a process that has it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.course.paths import ROOT

SERVER = """
import json, os, sys
import torch, pytest

torch.set_num_threads(1)
for line in sys.stdin:
    arguments, folder, output = json.loads(line)
    pid = os.fork()
    if pid == 0:
        told = os.open(output, os.O_WRONLY | os.O_CREAT)
        os.dup2(told, 1)
        os.dup2(told, 2)
        os.chdir(folder)
        status = 255
        try:
            status = pytest.main(arguments)
        except SystemExit as left:  # pytest itself has ended there
            status = left.code
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""

Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="session")
def run_pytest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A function that runs pytest with the given arguments: its exit status and what it printed."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def run(*arguments: str, folder: Path = ROOT) -> tuple[int, str]:
            output = tmp_path_factory.mktemp("told") / "output.txt"
            quiet = ["-p", "no:randomly", *([] if "--lf" in arguments else ["-p", "no:cacheprovider"])]
            request = json.dumps([[*quiet, *arguments], str(folder), str(output)])
            print(request, file=server.stdin, flush=True)
            status = server.stdout.readline()
            return int(status), output.read_text("utf-8")

        yield run
        server.stdin.close()
