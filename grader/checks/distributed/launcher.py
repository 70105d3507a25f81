"""The process that ranks are forked from.

It is forked once, from a process that has imported torch and run nothing yet, and waits for jobs. A
job comes with a connection of its own: whoever asked closes it to call the job off.
"""

import contextlib
import gc
import importlib
import os
import pickle
import signal
import socket
import sys
import tempfile
import warnings
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

from grader.checks._compat import COMPILER, FUNCTIONAL_COLLECTIVES
from grader.checks.distributed.group import RankGroup
from grader.checks.distributed.process import end_with_parent


class Launcher:
    """This side of the launcher: forks it when made, and sends it jobs."""

    def __init__(self) -> None:
        self.parent = os.getpid()
        self._channel, theirs = socket.socketpair()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads: none holds a lock
            self.pid = os.fork()
        if self.pid == 0:
            try:
                _serve(theirs, self.parent)
            finally:
                os._exit(0)  # what the parent does at exit is not for this process
        theirs.close()

    def connect(self) -> Connection:
        """A connection for one pickled `Job`, which brings the list of endings; close it to call it off."""
        ours, theirs = Pipe()
        with theirs:
            socket.send_fds(self._channel, [b"j"], [theirs.fileno()])
        return ours

    def close(self) -> None:
        """End the launcher, and with it every rank."""
        self._channel.close()
        os.kill(self.pid, signal.SIGTERM)  # it may be busy
        os.waitpid(self.pid, 0)


def _serve(channel: socket.socket, parent: int) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # ends ranks and removes files on the way
    for ignored in (signal.SIGINT, signal.SIGUSR1):  # the second asks a rank where it is
        signal.signal(ignored, signal.SIG_IGN)
    end_with_parent(parent, signal.SIGTERM)
    _let_go(channel.fileno())
    # DDP needs the first at its first backward, tensors the second to be unpickled, results the third to be
    # handed in. Imported here, they keep nobody waiting.
    for name in (COMPILER, "torch.utils.serialization.config", FUNCTIONAL_COLLECTIVES):
        importlib.import_module(name)
    gc.freeze()
    while True:
        message, fds, _, _ = socket.recv_fds(channel, 1, 1)
        if not message:
            return
        with Connection(fds[0]) as caller, contextlib.suppress(EOFError, OSError):
            job = pickle.loads(caller.recv_bytes())
            with tempfile.TemporaryDirectory(prefix="kata-ranks-", ignore_cleanup_errors=True) as folder:
                endings = RankGroup(job, Path(folder), (caller, channel)).run(caller)
            caller.send_bytes(pickle.dumps(endings))


def _let_go(kept: int) -> None:
    """Point every inherited descriptor but one to /dev/null, so that no pipe is held open here.

    They are not closed: objects that still own them could then close what takes their numbers.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in map(int, os.listdir("/dev/fd")):  # noqa: PTH208 - names, not files
        if descriptor not in (kept, null):
            with contextlib.suppress(OSError):  # the descriptor of this very list
                os.fstat(descriptor)
                os.dup2(null, descriptor, inheritable=descriptor < 3)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stderr = open(1, "w", closefd=False)  # noqa: SIM115
