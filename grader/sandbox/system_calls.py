"""The system-call filter of the sandbox: what an answer may ask of the kernel."""

import ctypes
import errno
import resource
import socket
import tempfile
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from grader.sandbox.namespaces import NEW_ANY, checked

_PR_SET_SECCOMP = 22

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

_COMMANDS = (1024, 1026, 1031)
"""Commands of `fcntl`. F_SETLEASE: whoever opens a file waits for its owner, who is the user that grades.
F_NOTIFY. F_SETPIPE_SZ: a user has pages for so many pipes, and gets small ones when they are used up."""

_INT = 0xFFFFFFFF
"""What the kernel looks at of an argument that is an int; a filter is shown 64 bits."""


class Filter(NamedTuple):
    """A system-call filter, ready for the kernel. Load it last: it refuses what set-up needs."""

    header: ctypes.Structure
    code: Any

    def load(self) -> None:
        """Have the kernel refuse what the filter does, in this process and all that it starts, for good."""
        checked("prctl", _PR_SET_SECCOMP, 2, ctypes.byref(self.header), 0, 0)


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
    for flag in NEW_ANY:
        yield refuse, "clone", (lib.Arg(0, lib.MASKED_EQ, flag, flag),)
    for command in _COMMANDS:
        yield refuse, "fcntl", (lib.Arg(1, lib.MASKED_EQ, _INT, command),)
    # With 0 in place of the 1 byte that `rlimits` allows, a crash starts the machine's program for cores.
    core = resource.RLIMIT_CORE
    yield refuse, "setrlimit", (lib.Arg(0, lib.MASKED_EQ, _INT, core),)
    yield refuse, "prlimit64", (lib.Arg(1, lib.MASKED_EQ, _INT, core), lib.Arg(2, lib.NE, 0))
    # Sockets: UNIX; for a network INET and INET6, and the netlink protocol by which gloo asks for interfaces.
    netlink = int(getattr(socket, "AF_NETLINK", 16))
    allowed = [socket.AF_UNIX, *((socket.AF_INET, socket.AF_INET6, netlink) if network else ())]
    for family in range(netlink + 1):
        if family not in allowed:
            yield refuse, "socket", (lib.Arg(0, lib.EQ, family),)
    yield refuse, "socket", (lib.Arg(0, lib.GT, netlink),)
    yield refuse, "socket", (lib.Arg(0, lib.EQ, netlink), lib.Arg(2, lib.NE, 0))
    yield refuse, "socketpair", (lib.Arg(0, lib.NE, socket.AF_UNIX),)
