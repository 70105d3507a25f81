"""Linux namespaces, mounts and capabilities: what the sandbox is made of, with `grader.sandbox.system_calls`.

Everything goes straight to libc: between a fork and an answer there is no time for a subprocess or an
import. Every function raises OSError, naming the call, where the kernel refuses.
"""

import ctypes
import errno
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from grader.sandbox.rlimits import read, write

NEW_MOUNTS = 0x00020000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PIDS = 0x20000000
NEW_NETWORK = 0x40000000
NEW_ANY = (NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NETWORK, 0x02000000, 0x04000000)

READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, RECURSIVE = 1, 2, 4, 8, 32, 4096, 16384
_DETACH = 2

_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 24, 38
_SIGKILL = 9

if sys.platform == "linux":
    _libc = ctypes.CDLL(None, use_errno=True)


def checked(call: str, *args: Any) -> None:
    """Call libc."""
    if getattr(_libc, call)(*args) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def unshare(namespaces: int) -> None:
    """Move this process into fresh namespaces; NEW_PIDS is for its next children, not for itself."""
    checked("unshare", namespaces)


def join(namespace: int, kind: int) -> None:
    """Move this process (for NEW_PIDS: its next children) into the namespace behind a descriptor."""
    checked("setns", namespace, kind)


def map_user(uid: int, gid: int, proc: int | None = None) -> None:
    """In a fresh user namespace, be the same user and group as outside, and nobody else.

    `proc` is a descriptor of /proc, where that at its place is not to be written to.
    """
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        write(f"self/{name}" if proc else f"/proc/self/{name}", text.encode(), proc)


def mounts_below(folder: str) -> list[str]:
    """Where something is mounted inside `folder`, without what lies inside one of these in turn.

    What another mount has covered since is not there any more.
    """
    found: list[str] = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = line.split()[4].encode().decode("unicode_escape")  # a space is written \\040
        inside = point.startswith(f"{folder}/") and not any(point.startswith(f"{o}/") for o in found)
        if inside and Path(point).exists():
            found.append(point)
    return found


def visible() -> list[int]:
    """The processes that this one can see; none where there is no /proc."""
    proc = Path("/proc")
    return [int(entry.name) for entry in proc.iterdir() if entry.name.isdigit()] if proc.is_dir() else []


def children_of_children(proc: int) -> dict[int, int]:
    """What the children of this process hold: the number of each process, and of the child it stems from.

    A child is the first of a PID namespace. `proc` is a descriptor of /proc.
    """
    own = int(os.readlink("self", dir_fd=proc))
    known: dict[int, _Forked] = {}
    for name in filter(str.isdigit, os.listdir(proc)):
        with suppress(OSError, KeyError):  # gone meanwhile
            status = dict(line.split(":", 1) for line in read(f"{name}/status", proc).splitlines())
            known[int(name)] = _Forked(int(status["PPid"]), [*map(int, status["NSpid"].split())])
    depth = len(known[own].numbers)
    inside = {name: process for name, process in known.items() if len(process.numbers) > depth}
    found = {}
    for number, process in inside.items():
        first = number
        while (parent := inside[first].parent) in inside:
            first = parent
        if parent == own:
            found[process.numbers[depth - 1]] = inside[first].numbers[depth - 1]
    return found


class _Forked(NamedTuple):
    """Its parent, and its numbers in all namespaces that it is in, the outermost first."""

    parent: int
    numbers: list[int]


def session(pid: int) -> int:
    """The session that a process belongs to; -1 where it is gone."""
    try:
        return os.getsid(pid)
    except OSError:
        return -1


@cache
def counts_processes_by_namespace() -> bool:
    """Whether RLIMIT_NPROC counts inside a user namespace (Linux 5.14), not all of a user's processes."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int(minor)) >= (5, 14)


def cover(folder: str, size: int, *, keep: Sequence[str] = (), read_only: bool = False) -> None:
    """Mount an empty folder in memory, for at most `size` bytes and 65,536 files, over `folder`.

    The mounts `keep` inside it stay where they are.
    """
    kept = [(point, os.open(point, os.O_PATH)) for point in keep]
    flags = NO_SUID | NO_DEVICES | (READ_ONLY if read_only else 0)
    options = f"size={size},nr_inodes=65536,mode=0700"
    checked("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", flags, options.encode())
    for point, source in kept:
        if stat.S_ISDIR(os.fstat(source).st_mode):
            Path(point).mkdir(parents=True)
        else:
            Path(point).parent.mkdir(parents=True, exist_ok=True)
            Path(point).touch()
        checked("mount", f"/proc/self/fd/{source}".encode(), os.fsencode(point), None, BIND | RECURSIVE, None)
        os.close(source)


def keep_as_they_are(files: Iterable[str]) -> None:
    """Let nobody change the times or the mode of files that are mounted, devices; what they do, they do."""
    for file in files:
        flags = os.statvfs(file).f_flag & (NO_SUID | NO_DEVICES | NO_EXEC)  # the kernel lets none be dropped
        checked("mount", None, os.fsencode(file), None, REMOUNT | BIND | READ_ONLY | flags, None)


def uncover(target: str) -> None:
    """Take away what is mounted there, for this mount namespace and those made from it."""
    checked("umount2", os.fsencode(target), _DETACH)


def show_own_processes() -> None:
    """Mount a /proc with the processes of this process's namespace, by their numbers there, and no others.

    Read-only: the kernel's switches are there, and belong to whoever started all this.
    """
    flags = READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC
    checked("mount", b"proc", b"/proc", b"proc", flags, None)


def has_sockets() -> bool:
    """Whether UNIX sockets are left in this process's network namespace; they can outlive who made them."""
    header = 1
    return len(Path("/proc/self/net/unix").read_text().splitlines()) > header


def loopback_up() -> None:
    """Switch on the loopback interface of a fresh network namespace; it has no other."""
    import fcntl

    set_flags, up = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, set_flags, struct.pack("16sh22x", b"lo", up))


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that forked it ends."""
    checked("prctl", _PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability for good: no program that is started later can bring one back."""
    checked("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            if ctypes.get_errno() != errno.EINVAL:  # EINVAL: past the last one that this kernel knows
                raise OSError(ctypes.get_errno(), "prctl: cannot drop capabilities")
            break
    version_3 = struct.pack("Ii", 0x20080522, 0)
    checked("capset", version_3, bytes(24))
