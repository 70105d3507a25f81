"""What a confined child may use; whatever it does, its worker goes on."""

# Jobs are written the way an answer would be.
# ruff: noqa: PTH101, PTH109, PTH115, PTH123, PTH208, SIM115

import pytest

from tests.grader.support.warm_worker import add

MIB = 1 << 20


def identity():
    import os
    import resource

    with open("/proc/self/status") as file:
        status = dict(line.split() for line in file if len(line.split()) == 2)
    names = ("CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:")
    return {
        "capabilities": [int(status[name], 16) for name in names],
        "locked": (status["NoNewPrivs:"], status["Seccomp:"]),
        "ids": (os.getuid(), os.getgid()),
        "core": resource.getrlimit(resource.RLIMIT_CORE),
        "cwd": os.getcwd(),
        "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd")),
        "standard": [os.readlink(f"/proc/self/fd/{n}") for n in range(3)],
    }


def test_capabilities_are_empty_and_descriptors_closed(worker):
    found = worker.run(identity).value
    assert found["capabilities"] == [0] * 5
    assert found["locked"] == ["1", "2"]
    assert found["ids"] == [1000, 1000]
    assert found["cwd"] == "/tmp"
    assert found["core"] in ([1, 1], [0, 0]), "a crash starts no handler of the machine's"
    assert len(found["descriptors"]) == 5, "three standard ones, the one kept, the list itself"
    assert found["standard"] == ["/dev/null"] * 3


def refused_calls():
    """errno's name for calls that have no place in an answer."""
    import ctypes
    import errno
    import platform
    import socket
    import sys

    libc = ctypes.CDLL(None, use_errno=True)
    new_user, new_mounts, new_pids = 0x10000000, 0x20000, 0x20000000

    def name(result):
        return errno.errorcode[ctypes.get_errno()] if result < 0 else "worked"

    found = {
        "mount": name(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None)),
        "remount": name(libc.mount(None, b"/proc", None, 32 | 4096, None)),
        "umount": name(libc.umount2(b"/tmp", 2)),
        "unshare user": name(libc.unshare(new_user)),
        "unshare mounts": name(libc.unshare(new_mounts)),
        "setns": name(libc.setns(0, 0)),
        "ptrace": name(libc.ptrace(0, 0, 0, 0)),
        "process_vm_readv": name(libc.process_vm_readv(1, None, 0, None, 0, 0)),
        "personality": name(libc.personality(0x0040000)),
        "chroot": name(libc.chroot(b"/tmp")),
        "memfd": name(libc.memfd_create(b"x", 0)),
        "shmget": name(libc.shmget(0, 4096, 0o1600)),
        "semget": name(libc.semget(0, 32000, 0o1600)),
        "msgget": name(libc.msgget(0, 0o1600)),
        "inotify": name(libc.inotify_init1(0)),
        "socketpair": name(libc.socketpair(30, socket.SOCK_STREAM, 0, (ctypes.c_int * 2)())),
    }
    # With 0 bytes instead of 1, a crash would start the machine's program for cores.
    none = ctypes.byref((ctypes.c_ulong * 2)(0, 0))
    found["setrlimit core"] = name(libc.setrlimit(4, none))
    found["prlimit core"] = name(libc.prlimit(0, 4, none, None))
    with open(sys.executable) as file:  # the kernel looks at 32 bits of a command, a filter at 64
        for command in (1024, 1026, 1031, 1024 | 1 << 32):
            number = {"x86_64": 72, "aarch64": 25}[platform.machine()]
            asked = (ctypes.c_long(each) for each in (number, file.fileno(), command, 0))
            found[f"fcntl {command}"] = name(libc.syscall(*asked))
    numbers = {"x86_64": 56, "aarch64": 220}
    if platform.machine() in numbers:
        for kind, flag in (("user", new_user), ("pids", new_pids)):
            found[f"clone {kind}"] = name(libc.syscall(numbers[platform.machine()], flag | 17, 0, 0, 0, 0))
    for call, number in (("io_uring", 425), ("open_tree", 428), ("fsopen", 430), ("clone3", 435)):
        found[call] = name(libc.syscall(number, 0, 0, 0, 0))
    for family, protocol in ((5, 0), (17, 0), (40, 0), (16, 9), (38, 0)):
        try:
            socket.socket(family, socket.SOCK_DGRAM, protocol)
            found[f"socket {family}"] = "worked"
        except OSError as error:
            found[f"socket {family}"] = errno.errorcode[error.errno]
    return found


def test_system_calls_that_answers_have_no_use_for_are_refused(worker):
    found = worker.run(refused_calls).value
    assert found.pop("clone3") == "ENOSYS", "so that libc falls back to clone"
    assert set(found.values()) == {"EPERM"}, found


def new_session():
    import os

    before = os.getsid(0)
    if os.fork() == 0:
        os.setsid()
        os._exit(os.getsid(0) != before)
    return os.wait()[1]


def test_an_answer_stays_in_one_session(worker):
    assert worker.run(new_session).value == 0


def use_memory(mebibytes):
    return len(bytearray(mebibytes << 20))


def use_disk(folder, mebibytes, files):
    for number in range(files):
        with open(f"{folder}/{number}", "wb") as file:
            for _ in range(mebibytes):
                file.write(bytes(1 << 20))


def open_files():
    files = []
    try:
        while len(files) < 1000:
            files.append(open("/dev/null"))
    except OSError as error:
        return len(files), error.errno


def fork_bomb():
    import os
    import time

    started = 0
    try:
        while started < 3000:
            if os.fork() == 0:
                time.sleep(1000)
            started += 1
    except OSError:
        return started
    return time.sleep(1000)


def compute(seconds):
    import time

    while time.process_time() < seconds:
        pass
    return "went on"


def test_memory_is_limited_on_top_of_the_engines(worker):
    assert worker.run(use_memory, 20, memory_bytes=100 * MIB).value == 20 * MIB
    assert worker.run(use_memory, 200, memory_bytes=100 * MIB).error.startswith("MemoryError")


def start_threads(count):
    import threading

    enough = threading.Event()
    threads = [threading.Thread(target=enough.wait) for _ in range(count)]
    for thread in threads:
        thread.start()
    enough.set()
    return count


def test_threads_take_the_same_memory_on_every_machine(worker):
    """By itself, malloc maps 64 MiB for each, up to eight times as many as there are processors."""
    assert worker.run(start_threads, 40, memory_bytes=1000 * MIB).value == 40


@pytest.mark.parametrize("folder", [".", "/dev/shm"])
def test_disk_is_limited(worker, folder):
    limits = {"tmp_bytes": 8 * MIB, "file_bytes": 4 * MIB}
    assert worker.run(use_disk, folder, 2, 2, **limits).error == ""
    assert "File too large" in worker.run(use_disk, folder, 5, 1, **limits).error
    assert "No space left" in worker.run(use_disk, folder, 2, 5, **limits).error


def test_open_files_are_limited(worker):
    count, number = worker.run(open_files, open_files=32).value
    assert count < 32
    assert number == 24, "EMFILE"


def test_a_fork_bomb_is_stopped(worker):
    result = worker.run(fork_bomb, processes=20)
    if worker.ordinary:
        assert 0 < result.value < 20
    else:  # the kernel does not count root's processes: the worker does, and ends the child
        assert (result.signal, result.timed_out) == (9, False)


def undumpable():
    """More processes than there may be, each of which /proc shows to nobody but root."""
    import ctypes
    import os
    import time

    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    for _ in range(40):
        if os.fork() == 0:
            time.sleep(3)
            os._exit(0)
    time.sleep(3)


def unreadable():
    """The same, by a program that its user may run and not read."""
    import os
    import shutil

    shutil.copy("/bin/sleep", "/tmp/program")
    os.chmod("/tmp/program", 0o111)
    for _ in range(40):
        if os.fork() == 0:
            os.execv("/tmp/program", ["sleep", "3"])
    while True:
        os.wait()


@pytest.mark.parametrize("bomb", [undumpable, unreadable])
def test_processes_that_hide_are_counted(worker, bomb):
    result = worker.run(bomb, processes=20)
    assert (
        "BlockingIOError" in result.error
        if worker.ordinary
        else (result.signal, result.timed_out) == (9, False)
    )


def grow_without_end():
    import os

    held = bytearray(100 << 20)  # copying its page tables takes a while
    while held:
        os.fork()


def wait_for_a_while():
    import time

    time.sleep(1.0)
    return "slept"


@pytest.mark.parametrize("worker", ["caller"], indirect=True)
def test_who_forks_without_end_ends_with_all_of_it_and_nobody_else(worker):
    before = worker.ask("state")
    sibling = worker.start(wait_for_a_while)
    result = worker.run(grow_without_end, processes=20)
    assert worker.ordinary or (result.signal, result.timed_out) == (9, False)
    assert worker.finish(sibling).value == "slept"
    assert worker.ask("state") == before


@pytest.mark.parametrize("worker", ["caller"], indirect=True)
def test_computing_time_is_limited(worker):
    result = worker.run(compute, 4, cpu_seconds=1)
    assert (result.value, result.signal, result.timed_out) == (None, 9, True)


def segfault():
    import ctypes

    ctypes.string_at(0)


def abort():
    import os

    os.abort()


def leave():
    import os

    os._exit(3)


def close_everything():
    import os

    os.closerange(0, 1000)


def kill_the_group():
    import os
    import signal

    os.kill(0, signal.SIGKILL)


def stop_and_spin():
    import os
    import signal

    os.kill(os.getpid(), signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGKILL)  # neither has any effect on the first process of a namespace
    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


@pytest.mark.parametrize(
    ("job", "exit", "number", "timed_out"),
    [
        (segfault, 0, 11, False),
        (abort, 0, 11, False),
        (leave, 3, 0, False),
        (close_everything, 1, 0, False),
        (kill_the_group, 0, 0, False),
        (stop_and_spin, 0, 9, True),
    ],
)
def test_a_crash_ends_the_child_alone(worker, job, exit, number, timed_out):
    result = worker.finish(worker.start(job), 0.2 if timed_out else 120.0)
    assert (result.exit, result.signal, result.timed_out) == (exit, number, timed_out)
    assert result.value is None


@pytest.mark.parametrize("worker", ["caller"], indirect=True)
def test_two_hundred_children_leave_nothing(worker):
    before = worker.ask("state")
    for number in range(200):
        assert worker.run(add, number, 1).value == number + 1
    assert worker.ask("state") == before


def test_a_child_that_can_not_be_set_up_is_a_fault_and_not_an_answers(worker):
    fault = worker.start(add, 1, 2, tmp_bytes=-1)["fault"]
    assert "cannot set up" in fault
    assert "mount" in fault
