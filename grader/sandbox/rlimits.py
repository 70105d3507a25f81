"""What one answer may use of the machine, and how a process is held to it."""

import contextlib
import os
import resource
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20

_HAS_PROC = Path("/proc/self/statm").exists()


@dataclass(frozen=True)
class Limits:
    """What one answer may use: bytes, seconds of CPU time per process, counts.

    `memory_bytes` counts on top of what the engine has mapped already, for each process. `tmp_bytes` holds
    for the work folder and for shared memory.

    A child without a `network` of its own has UNIX sockets only: a used port is to be seen for a minute. To
    make a network and to take it down is a millisecond of processor time, and few answers have use for one.
    """

    cpu_seconds: int = 120
    memory_bytes: int = 2048 * MIB
    file_bytes: int = 256 * MIB
    tmp_bytes: int = 512 * MIB
    open_files: int = 256
    processes: int = 64
    network: bool = True


def apply(limits: Limits) -> None:
    """Set the limits that every system has."""
    # No core has one byte. With any other limit, 0 too, a crash starts the machine's handler, if it has one
    # (`kernel.core_pattern`). A process that is not dumpable could start programs that are.
    lower(resource.RLIMIT_CORE, 1)
    lower(resource.RLIMIT_CPU, limits.cpu_seconds)
    lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    lower(resource.RLIMIT_NOFILE, limits.open_files)
    if _HAS_PROC:  # macOS has no limit on memory either
        mapped = int(read("/proc/self/statm").split()[0]) * resource.getpagesize()
        lower(resource.RLIMIT_AS, mapped + limits.memory_bytes)
        # When the machine runs out of memory all the same, end this process first.
        write("/proc/self/oom_score_adj", b"1000")


def write(file: str, text: bytes, folder: int | None = None) -> None:
    """Write to a file of the kernel's; unlike Python's own way, touching hardly any memory."""
    descriptor = os.open(file, os.O_WRONLY, dir_fd=folder)
    try:
        os.write(descriptor, text)
    finally:
        os.close(descriptor)


def read(file: str, folder: int | None = None) -> str:
    """What a file of the kernel's holds, below the folder of a descriptor."""
    descriptor = os.open(file, os.O_RDONLY, dir_fd=folder)
    try:
        return os.read(descriptor, 4096).decode(errors="replace")
    finally:
        os.close(descriptor)


def lower(kind: int, value: int) -> None:
    """Set both limits of a resource, as far as the hard one lets us."""
    _, most = resource.getrlimit(kind)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(kind, (value, value))


def close_all_but(keep: Collection[int]) -> None:
    """Leave no descriptors open but `keep`; 0 to 2 lead nowhere unless they are kept."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in {0, 1, 2}.difference(keep):
        os.dup2(null, standard)
    for descriptor in map(int, os.listdir("/dev/fd")):  # noqa: PTH208 - names, not files
        if descriptor > 2 and descriptor not in keep:
            with contextlib.suppress(OSError):  # the descriptor of this very list
                os.close(descriptor)
