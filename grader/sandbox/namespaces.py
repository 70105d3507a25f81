"""Linux namespaces, mounts, capabilities and the system-call filter: what the sandbox is made of.

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
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from grader.sandbox.rlimits import write

NEW_MOUNTS = 0x00020000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PIDS = 0x20000000
NEW_NETWORK = 0x40000000
_NEW_ANY = (NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NETWORK, 0x02000000, 0x04000000)

READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, RECURSIVE = 1, 2, 4, 8, 32, 4096, 16384

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
_SIGKILL = 9

REFUSED = (
    # other processes' memory
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd"),
    # the file tree
    *("mount", "umount2", "umount", "pivot_root", "chroot", "open_tree", "move_mount", "mount_setattr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "open_by_handle_at", "name_to_handle_at", "fanotify_init"),
    *("quotactl", "quotactl_fd", "swapon", "swapoff", "acct"),
    # namespaces and the kernel itself
    *("setns", "unshare", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module"),
    *("reboot", "bpf", "perf_event_open", "personality", "syslog", "iopl", "ioperm", "vhangup"),
    *("add_key", "request_key", "keyctl", "userfaultfd"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname"),
    # memory that no limit of ours counts
    *("memfd_create", "memfd_secret", "shmget", "semget", "msgget", "mq_open"),
    # what the machine, or a user on it, has little of: other programs would go without
    *("io_setup", "inotify_init", "inotify_init1"),
)
"""System calls that an answer has no use for; they fail with EPERM."""

if sys.platform == "linux":
    _libc = ctypes.CDLL(None, use_errno=True)


def _checked(call: str, *args: Any) -> None:
    if getattr(_libc, call)(*args) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def unshare(namespaces: int) -> None:
    """Move this process into fresh namespaces; NEW_PIDS is for its next children, not for itself."""
    _checked("unshare", namespaces)


def join(namespace: int, kind: int) -> None:
    """Move this process (for NEW_PIDS: its next children) into the namespace behind a descriptor."""
    _checked("setns", namespace, kind)


def map_user(uid: int, gid: int) -> None:
    """In a fresh user namespace, be the same user and group as outside, and nobody else."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        write(f"/proc/self/{name}", text.encode())


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


def pid_namespace(process: str) -> str:
    """The name of a process's PID namespace; "" where it may not be looked at or is gone."""
    try:
        return str(Path(f"/proc/{process}/ns/pid").readlink())
    except OSError:
        return ""


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
    _checked("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", flags, options.encode())
    for point, source in kept:
        if stat.S_ISDIR(os.fstat(source).st_mode):
            Path(point).mkdir(parents=True)
        else:
            Path(point).parent.mkdir(parents=True, exist_ok=True)
            Path(point).touch()
        _checked(
            "mount", f"/proc/self/fd/{source}".encode(), os.fsencode(point), None, BIND | RECURSIVE, None
        )
        os.close(source)


def make_read_only(target: str) -> None:
    """Make one mount read-only for this mount namespace and those made from it."""
    flags = REMOUNT | BIND | READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC
    _checked("mount", None, os.fsencode(target), None, flags, None)


def hide_processes() -> None:
    """Show a process in /proc only to who could look into it: a command line can say anything."""
    flags = REMOUNT | NO_SUID | NO_DEVICES | NO_EXEC
    try:
        _checked("mount", None, b"/proc", None, flags, b"hidepid=4")  # for root's group, too
    except OSError:  # before Linux 5.8
        _checked("mount", None, b"/proc", None, flags, b"hidepid=2")


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
    _checked("prctl", _PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability for good: no program that is started later can bring one back."""
    _checked("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            if ctypes.get_errno() != errno.EINVAL:  # EINVAL: past the last one that this kernel knows
                raise OSError(ctypes.get_errno(), "prctl: cannot drop capabilities")
            break
    version_3 = struct.pack("Ii", 0x20080522, 0)
    _checked("capset", version_3, bytes(24))


class Filter(NamedTuple):
    """A system-call filter, ready for the kernel. Load it last: it refuses what set-up needs."""

    header: ctypes.Structure
    code: Any

    def load(self) -> None:
        """Have the kernel refuse what the filter does, in this process and all that it starts, for good."""
        _checked("prctl", _PR_SET_SECCOMP, 2, ctypes.byref(self.header), 0, 0)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


@cache
def build_filter(*, network: bool) -> Filter:
    """Compile the filter. Slow (it imports libseccomp): once, in the parent of all who use it.

    Without a `network`, sockets are UNIX sockets.
    """
    import pyseccomp

    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for action, call, conditions in _rules(pyseccomp, network):
        number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call)
        if number != -1:  # -1: newer than this libseccomp; nothing here works only through such a call
            rules.add_rule(action, number, *conditions)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        code = file.read()
    buffer = ctypes.create_string_buffer(code, len(code))
    instruction = 8
    return Filter(_Program(len(code) // instruction, ctypes.addressof(buffer)), buffer)


def _rules(lib: Any, network: bool) -> Iterator[tuple[Any, str, tuple[Any, ...]]]:
    """(action, system call, conditions on its arguments) in the vocabulary of pyseccomp."""
    refuse = lib.ERRNO(errno.EPERM)
    for call in REFUSED:
        yield refuse, call, ()
    # Its flags lie behind a pointer, which a filter cannot follow. ENOSYS sends libc back to clone.
    yield lib.ERRNO(errno.ENOSYS), "clone3", ()
    # Sessions may share the processors equally, however many processes are in each (sched_autogroup): an
    # answer with many would leave nothing to others. It is told that it has one.
    yield lib.ERRNO(0), "setsid", ()
    for flag in _NEW_ANY:
        yield refuse, "clone", (lib.Arg(0, lib.MASKED_EQ, flag, flag),)
    # Sockets: UNIX; for a network INET and INET6, and the netlink protocol by which gloo asks for interfaces.
    netlink = int(getattr(socket, "AF_NETLINK", 16))
    allowed = [socket.AF_UNIX, *((socket.AF_INET, socket.AF_INET6, netlink) if network else ())]
    for family in range(netlink + 1):
        if family not in allowed:
            yield refuse, "socket", (lib.Arg(0, lib.EQ, family),)
    yield refuse, "socket", (lib.Arg(0, lib.GT, netlink),)
    yield refuse, "socket", (lib.Arg(0, lib.EQ, netlink), lib.Arg(2, lib.NE, 0))
