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

    It sees the system's programs and libraries, this Python and the `readable` paths (all read-only,
    at their own places), an empty `WORK`, and the descriptors that it inherits. It dies with the
    thread that starts it.
    """
    line = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    line += ["--cap-add", "CAP_SYS_ADMIN"]  # to hide processes from each other, before there is an answer
    line += ["--uid", str(USER), "--gid", str(USER), "--hostname", "localhost"]
    line += ["--tmpfs", WORK, *_system()]
    for path in sorted({*_python(), *readable}):
        line += ["--ro-bind", str(path), str(path)]
    # Started by root, the kernel's switches could be written to inside: core_pattern runs programs.
    line += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    line += ["--tmpfs", "/dev", *_devices(), "--tmpfs", "/dev/shm"]
    # Both belong to the user inside: left open, one answer could leave a file there for the next.
    line += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(workdir), "--clearenv"]
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


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if Path(name).is_symlink():
            yield from ("--symlink", str(Path(name).readlink()), name)
        else:
            yield from ("--ro-bind-try", name, name)
    settings = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "hosts")
    for path in (*(f"/etc/{name}" for name in settings), "/sys/devices/system/cpu"):
        yield from ("--ro-bind-try", path, path)


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
    probe = command([sys.executable, "-c", PROBE], readable=[paths.PACKAGE])
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
