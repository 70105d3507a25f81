"""The outer layer of the sandbox: bubblewrap, and what it lets a warm engine see."""

import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from grader.course import paths, sources

WORK = "/tmp"
"""The one folder that can be written to inside, next to shared memory."""

USER = 1000
"""User and group inside. Not 0: a nested namespace could not map it again."""

NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
"""In the environment of a process that is to see no GPU; ROCm goes by this name too."""

ENVIRONMENT = {
    "PYTHONPATH": paths.PYTHONPATH,
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    # Large pages from the start: see `grader.engine.hugepages`. And without a limit, forty threads map
    # 2.5 GiB where there are many processors, which is more than an answer may have.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=8",
    "GLOO_SOCKET_IFNAME": "lo" if sys.platform == "linux" else "lo0",
    **NO_GPU,  # marks are not to depend on one, and CUDA does not survive a fork
}
"""What an engine needs in its environment, in the sandbox and out of it, beside `sources.environment()`."""

JUDGING = (
    *("__init__.py", "core", "course", "protocol", "records", "diagnose", "checks", "sandbox", "plugin"),
    *("engine", "classroom/__init__.py", "classroom/suite"),
)
"""What a process that judges sees of this package: what it imports, and no course."""

_ENVIRONMENT = ("bin", "include", "lib", "lib64", "share", "pyvenv.cfg")
"""What makes a virtual environment."""

SWITCHES = Path("/proc/sys")

PROBE = """
import os
from grader.sandbox import Confinement, Limits
box = Confinement()
pid = box.fork(Limits())
if pid == 0:
    os._exit(7)
assert box.wait(pid, 20).exit == 7, "a confined process did not end as it should"
"""

INSTALL = {
    "apt-get": "sudo apt-get install bubblewrap libseccomp2",
    "dnf": "sudo dnf install bubblewrap libseccomp",
    "pacman": "sudo pacman -S bubblewrap libseccomp",
    "zypper": "sudo zypper install bubblewrap libseccomp2",
    "apk": "sudo apk add bubblewrap libseccomp",
}

RESTRICTED = {
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "0"),
    "kernel/unprivileged_userns_clone": ("0", "1"),
    "user/max_user_namespaces": ("0", "15000"),
}
"""Switches below `SWITCHES` that forbid user namespaces: the value that does, and one that does not."""


def command(argv: Sequence[str], *, readable: Iterable[Path], workdir: Path = Path(WORK)) -> list[str]:
    """The command line that runs `argv` inside bubblewrap, in `workdir`.

    It sees the system's programs and libraries, this Python, of this package what judges, and the `readable`
    paths (all read-only, at their own places), an empty `WORK`, and the descriptors that it inherits. It dies
    with the thread that starts it.
    """
    line = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    # To give each process a /proc of its own, before there is an answer.
    line += ["--cap-add", "CAP_SYS_ADMIN"]
    line += ["--uid", str(USER), "--gid", str(USER), "--hostname", "localhost"]
    line += ["--tmpfs", WORK, *_system()]
    homes = _python()
    line += [*_installed(sorted(homes)), *_package(homes), *_bound(sorted({*readable}))]
    # Started by root, the kernel's switches could be written to inside: core_pattern runs programs.
    line += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    line += ["--tmpfs", "/dev", *_devices(), "--tmpfs", "/dev/shm"]
    # Both belong to the user inside: left open, one answer could leave a file there for the next.
    line += ["--remount-ro", "/dev", "--remount-ro", str(paths.PACKAGE), "--remount-ro", "/"]
    line += ["--chdir", str(workdir), "--clearenv"]
    private = {
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": WORK,
        "TMPDIR": WORK,
        "USER": "kata",
        "LANG": "C.UTF-8",
        "TORCHINDUCTOR_CACHE_DIR": f"{WORK}/inductor",
    }
    for name, value in {**ENVIRONMENT, **sources.environment(), **private}.items():
        line += ["--setenv", name, value]
    return [*line, "--", *argv]


def _bound(files: Iterable[Path]) -> Iterator[str]:
    for path in files:
        yield from ("--ro-bind", str(path), str(path))


def _installed(homes: Iterable[Path]) -> Iterator[str]:
    """Of a virtual environment no more than makes one: its folder may be the one with solutions and marks."""
    for home in homes:
        if (home / "pyvenv.cfg").is_file():
            yield from _linked(home, _ENVIRONMENT)
        else:
            yield from _bound([home])


def _package(homes: Iterable[Path]) -> Iterator[str]:
    """Of this package `JUDGING` alone: a wheel brings solutions and hidden suites in it.

    Nor any other wheel's: beside a clone, one may be installed.
    """
    for home in (*homes, Path("/usr"), Path("/usr/local")):
        for content in home.glob("lib*/python3*/*-packages/grader/content"):
            if content.parent != paths.PACKAGE:
                yield from ("--tmpfs", str(content), "--remount-ro", str(content))
    yield from ("--tmpfs", str(paths.PACKAGE))
    yield from _bound(paths.PACKAGE / name for name in JUDGING)


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    yield from _linked(Path("/"), ("bin", "sbin", "lib", "lib32", "lib64"))
    settings = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "hosts")
    for path in (*(f"/etc/{name}" for name in settings), "/sys/devices/system/cpu"):
        yield from ("--ro-bind-try", path, path)


def _linked(folder: Path, names: Iterable[str]) -> Iterator[str]:
    """What there is of these in a folder; a link stays one."""
    for path in map(folder.joinpath, names):
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        else:
            yield from ("--ro-bind-try", str(path), str(path))


def _devices() -> Iterator[str]:
    """What programs expect there, but no terminals: what one answer writes to its own another could read."""
    for name in ("null", "zero", "full", "random", "urandom"):
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        yield from ("--symlink", f"/proc/self/fd/{number}", f"/dev/{name}")
    yield from ("--symlink", "/proc/self/fd", "/dev/fd")


def _python() -> set[Path]:
    """The folders of this Python, under every name by which the interpreter's links reach them."""
    base = Path(sys.base_prefix)
    homes = {Path(sys.prefix), base, base.resolve()}
    link = Path(sys.executable)
    while link.is_symlink():
        link = link.parent / link.readlink()
        if link.parent.parent.resolve() == base.resolve():
            homes.add(link.parent.parent)
    return {home for home in homes if not home.is_relative_to("/usr")}


def unavailable() -> str | None:
    """Why the sandbox cannot run on this machine and what to do about it, in one line; None if it can.

    It is tried for real, with both layers: that takes a fraction of a second.
    """
    instead = "or grade work that you trust with --sandbox off"
    if sys.platform != "linux":
        return f"no sandbox: bubblewrap needs Linux, this is {platform.system()}; grade there, {instead}"
    if shutil.which("bwrap") is None:
        return f"no sandbox: bubblewrap is not installed; {_install()}, {instead}"
    probe = command([sys.executable, "-c", PROBE], readable=[])
    try:
        done = subprocess.run(probe, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"no sandbox: bubblewrap does not run ({error}); mend that, {instead}"
    if done.returncode == 0:
        return None
    why = (done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"])[-1]
    return f"no sandbox: bubblewrap does not work here ({why}); {_remedy(why)}, {instead}"


def _install() -> str:
    known = next((line for tool, line in INSTALL.items() if shutil.which(tool)), None)
    return f"run `{known}`" if known else "install it with your system's package manager"


def _remedy(why: str) -> str:
    if "pyseccomp" in why:
        return "run `pip install pyseccomp`"
    if "libseccomp" in why:
        return _install()
    for switch, (bad, good) in RESTRICTED.items():
        file = SWITCHES / switch
        if file.exists() and file.read_text().strip() == bad:
            return f"allow user namespaces by `sudo sysctl -w {switch.replace('/', '.')}={good}`"
    return "in a container, start it with rights to make user namespaces (say --privileged)"
