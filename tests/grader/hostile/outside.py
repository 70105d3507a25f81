"""Attacks on what is outside: network, processes, files, devices."""

from tests.grader.hostile.answers import Hostile


def _trying(about: str, code: str, says: str = "refused", slug: str = "merge_heads") -> Hostile:
    body = "\n".join(f"    {line}" for line in code.splitlines())
    return Hostile(
        about,
        f"import os, signal, socket\ntry:\n{body}\n    what = 'done'\n"
        "except OSError as error:\n    what = 'refused'\nraise RuntimeError('it was ' + what)",
        statuses=("broken",),
        says=f"it was {says}",
        slug=slug,
    )


OUTSIDE = [
    _trying("connects to the internet", "socket.create_connection(('1.1.1.1', 53), timeout=1)"),
    _trying("asks a name server", "socket.getaddrinfo('example.com', 80)"),
    _trying(
        "sends a datagram", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))"
    ),
    _trying("opens a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
    _trying("listens at a port", "socket.create_server(('127.0.0.1', 0))"),
    _trying("opens a terminal", "os.openpty()"),
    _trying("listens for a packet socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    _trying("kills its parent", "os.kill(os.getppid() or 10**6, signal.SIGKILL)"),
    # It is the first process of its namespace, whose own signals do nothing to it.
    _trying("kills its process group", "os.kill(0, signal.SIGKILL)", says="done"),
    _trying("kills its process group on the device", "os.kill(0, signal.SIGKILL)", "done", "device_agnostic"),
    _trying("slows its process group down", "os.setpriority(os.PRIO_PGRP, 0, 19)", says="done"),
    _trying("writes into the clone", "open('{root}/README.md', 'r+')"),
    _trying("deletes a classmate's work", "os.remove('{work}/neighbour/e01_tensors/ex12_merge_heads.py')"),
    _trying("overwrites its results", "open('{out}/neighbour.json', 'r+')"),
    _trying("writes into Python's own library", "open(os.__file__, 'a')"),
    _trying("makes a device", "os.mknod('/tmp/device', 0o666 | 0o060000, os.makedev(8, 0))"),
    _trying("opens the kernel's memory", "open('/dev/mem', 'rb')"),
    _trying(
        "mounts a file system",
        "import ctypes\nif ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None): raise OSError",
    ),
    _trying("changes the root", "os.chroot('/tmp')"),
    _trying("becomes root", "os.setuid(0)"),
    _trying("traces a process", "import ctypes\nif ctypes.CDLL(None).ptrace(16, 1, 0, 0): raise OSError"),
    _trying("changes the clock", "import time\ntime.clock_settime(time.CLOCK_REALTIME, 0)"),
    Hostile(
        "kills everyone that it may",
        "import os, signal\ntry: os.kill(-1, signal.SIGKILL)\nexcept OSError: pass",
        statuses=("failed", "crashed"),
    ),
    Hostile(
        "makes links to secrets in its folder",
        "import os\nos.symlink('{root}/solutions', '/tmp/there')\nraise RuntimeError(str(os.path.exists('/tmp/there')))",
        statuses=("broken",),
        says="False",
    ),
]
