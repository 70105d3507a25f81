"""What a confined child can not see, reach or do.

Jobs are functions below: their source is sent to a worker inside bubblewrap and runs in a child there.
"""

# Jobs are written the way an answer would be.
# ruff: noqa: PTH110, PTH115, PTH118, PTH120, PTH123, PTH207, PTH208, SIM105

import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from grader import sandbox
from grader.sandbox import bubblewrap


def read(path):
    with open(path) as file:
        return file.read()


def listing(*folders):
    import os

    return [sorted(os.listdir(folder)) for folder in folders]


def test_a_file_outside_is_not_there(worker, files):
    assert files.secret.read_text() == "swordfish"
    assert worker.run(read, str(files.secret)).error.startswith("FileNotFoundError")
    assert worker.run(read, "/etc/shadow").error.startswith("FileNotFoundError")


def test_hidden_suites_are_not_there_and_the_public_ones_are(worker, files):
    assert worker.run(listing, str(files.suites), str(files.hidden)).value == [["hidden", "public.txt"], []]
    assert worker.run(read, str(files.suites / "public.txt")).value == "public"


def test_nothing_is_seen_of_a_course_that_another_installation_brings(confines, tmp_path, monkeypatch):
    content = tmp_path / "lib" / "python3.12" / "site-packages" / "grader" / "content"
    content.mkdir(parents=True)
    (content / "solution.py").touch()
    monkeypatch.setattr(bubblewrap, "_python", lambda: {tmp_path})
    seen = ["sh", "-c", f"ls {content.parent} {content}; touch {content}/left || echo kept"]
    told = subprocess.run(sandbox.command(seen, readable=[]), capture_output=True, text=True)
    assert told.stdout.split() == [f"{content.parent}:", "content", f"{content}:", "kept"]


def test_of_an_environment_that_is_the_class_s_own_folder_only_the_environment_is_seen(
    confines, tmp_path, monkeypatch
):
    for name in ("pyvenv.cfg", "lib/python3.12/os.py", "gradebook.db", "solutions/one.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "lib64").symlink_to("lib")
    monkeypatch.setattr(bubblewrap, "_python", lambda: {tmp_path})
    told = subprocess.run(sandbox.command(["ls", str(tmp_path)], readable=[]), capture_output=True, text=True)
    assert told.stdout.split() == ["lib", "lib64", "pyvenv.cfg"]


def environments():
    """Every environment that can be read, its own and those of other processes."""
    import glob
    import os

    texts = [repr(dict(os.environ))]
    for name in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(name) as file:
                texts.append(file.read())
        except OSError:
            pass
    return texts


def test_the_callers_environment_is_not_there(worker):
    found = worker.run(environments).value
    assert len(found) == 2, "its own, by two ways"
    assert "PYTHONHASHSEED" in found[0]
    assert not any("swordfish" in text or "KATA_SECRET" in text for text in found)


def connects(host, port, abstract):
    import socket

    found = []
    for family, address in ((socket.AF_INET, (host, port)), (socket.AF_UNIX, abstract)):
        try:
            socket.socket(family).connect(address)
            found.append("connected")
        except OSError as error:
            found.append(type(error).__name__)
    with socket.create_server((host, 0)) as own, socket.create_connection(own.getsockname()):
        return found


def test_a_listener_on_the_machines_loopback_is_out_of_reach(worker):
    abstract = f"\0kata-{tempfile.gettempprefix()}-{id(worker)}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(abstract)
        unix.listen()
        port = tcp.getsockname()[1]
        assert connects("127.0.0.1", port, abstract) == ["connected", "connected"]
        refused = ["ConnectionRefusedError", "ConnectionRefusedError"]
        assert worker.run(connects, "127.0.0.1", port, abstract).value == refused


def leaves_a_daemon():
    import os
    import socket
    import time

    server = socket.socket(socket.AF_UNIX)
    server.bind("\0kata-daemon")
    server.listen()
    ready, say = os.pipe()
    if os.fork() == 0:
        os.write(say, b"!")
        time.sleep(1000)
    os.read(ready, 1)


def leaves_a_socket():
    """Leave one that only the queue of another holds, which it is in itself: the kernel takes its time."""
    import socket

    one, other = socket.socketpair()
    held = socket.socket(socket.AF_UNIX)
    held.bind("\0kata-held")
    socket.send_fds(one, [b"x"], [other.fileno(), held.fileno()])
    one.close()


def names_and_sockets():
    """The names of sockets that can be read, and which kinds of sockets can be made."""
    import socket

    made = []
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
        try:
            socket.socket(family, socket.SOCK_DGRAM).close()
            made.append(family.name)
        except PermissionError:
            pass
    with open("/proc/net/unix") as names:
        return [names.read().count("@"), made]


def test_children_that_share_a_network_one_after_the_other_meet_nobody_in_it(worker):
    for leaves in (leaves_a_daemon, leaves_a_socket):
        worker.run(leaves, network=False)
        assert worker.run(names_and_sockets, network=False).value == [0, ["AF_UNIX"]]


def terminal():
    import os

    os.openpty()


def test_there_is_no_terminal_that_another_child_could_read(worker):
    assert worker.run(terminal).error.startswith("FileNotFoundError")
    names = ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    assert worker.run(listing, "/dev").value == [names]


def attack():
    """Signal, trace and read the memory of everything in sight; return what worked."""
    import ctypes
    import os
    import signal

    libc = ctypes.CDLL(None, use_errno=True)
    own = int(os.readlink("/proc/self"))
    seen = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {own}
    worked = []
    for pid in sorted(seen | set(range(1, 200)) - {own}):
        if pid != os.getpid():
            try:
                os.kill(pid, signal.SIGKILL)
                worked.append(f"kill {pid}")
            except OSError:
                pass
        if libc.ptrace(16, pid, 0, 0) == 0:
            worked.append(f"ptrace {pid}")
        for name in ("mem", "maps", "root", "cwd", "environ", "fd/0", "ns/pid", "oom_score_adj"):
            try:
                os.close(os.open(f"/proc/{pid}/{name}", os.O_RDWR if name in ("mem", "oom_score_adj") else 0))
                worked.append(f"{name} of {pid}")
            except OSError:
                pass
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError:
        pass
    return {"worked": worked, "seen": len(seen), "ids": (os.getpid(), os.getppid())}


def says_its_name():
    import os
    import time

    if os.fork() == 0:
        os.execv("/usr/bin/env", ["kata-said", "sleep", "1000"])
    time.sleep(1000)


def told_by_processes():
    """What other processes say of themselves, and whether its own can be read."""
    import glob
    import os

    told = []
    for file in glob.glob("/proc/[0-9]*/cmdline"):
        if os.path.dirname(file) != os.path.realpath("/proc/self"):
            with open(file) as stream:
                told.append(stream.read())
    with open("/proc/self/cmdline") as own:
        return told, len(own.read()) > 0


def test_what_a_sibling_says_of_itself_is_not_to_be_read(worker):
    sibling = worker.start(says_its_name)
    worker.ask("until", 2)
    found = worker.run(told_by_processes).value
    worker.finish(sibling, 0.0)
    assert found == [[], True]


def finds_itself():
    """Itself and a child by their own numbers, as psutil looks for them; all that there is to be found."""
    import os
    import signal

    child = os.fork()
    if child == 0:
        signal.pause()
    own = os.getpid()
    with open(f"/proc/{own}/statm") as memory, open(f"/proc/{child}/status") as status:
        found = int(memory.read().split()[0]) > 1000, f"PPid:\t{own}\n" in status.read()
    return [*found, {name for name in os.listdir("/proc") if name.isdigit()} == {str(own), str(child)}]


def test_a_process_finds_itself_and_its_own_by_their_numbers(worker):
    assert worker.run(finds_itself).value == [True, True, True]


def wait_for_ever():
    import time

    time.sleep(1000)


def test_parent_and_sibling_can_not_be_signalled_traced_or_read(worker):
    sibling = worker.start(wait_for_ever)
    found = worker.run(attack).value
    assert found["seen"] == 0, "not even there"
    assert found["worked"] == []
    assert found["ids"] == [1, 0]
    assert worker.finish(sibling, 0.0).timed_out, "it went on until now"


def leave_daemons(then_wait):
    import os
    import time

    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
    if then_wait:
        time.sleep(1000)
    return "left"


def test_daemons_go_when_the_child_exits(worker):
    assert worker.run(leave_daemons, False).value == "left"
    assert worker.ask("state")["processes"] == 0


def test_daemons_go_when_the_child_is_killed(worker):
    child = worker.start(leave_daemons, True)
    worker.ask("until", 4)
    result = worker.finish(child, 0.0)
    assert (result.signal, result.timed_out) == (9, True)
    assert worker.ask("state")["processes"] == 0


def writable(folders, files):
    """Where a file can be made, and which files open for writing."""
    import os

    found = []
    for folder in folders:
        try:
            os.close(os.open(os.path.join(folder, "left behind"), os.O_WRONLY | os.O_CREAT))
            found.append(folder)
        except OSError:
            pass
    for name in files:
        try:
            os.close(os.open(name, os.O_WRONLY))
            found.append(name)
        except OSError:
            pass
    return found


def test_only_the_work_folder_and_shared_memory_can_be_written_to(worker, files):
    folders = ["/", "/dev", "/etc", "/usr", "/proc", "/sys/devices/system/cpu"]
    folders += [name for name in (sys.prefix, sys.base_prefix) if not name.startswith("/tmp/")]  # its own
    folders += [str(Path(sandbox.__file__).parent), str(files.suites), str(files.hidden)]
    switches = ["kernel/core_pattern", "kernel/hostname", "vm/overcommit_memory", "user/max_user_namespaces"]
    names = [f"/proc/sys/{switch}" for switch in switches] + [
        "/proc/self/oom_score_adj",
        "/proc/sysrq-trigger",
    ]
    assert worker.run(writable, [*folders, "/tmp", "/dev/shm"], names).value == ["/tmp", "/dev/shm"]


def touched(names):
    """Which of these files have another time now."""
    import os

    found = []
    for name in names:
        try:
            os.utime(name)
            found.append(name)
        except OSError:
            pass
    return found


def test_nobody_leaves_a_note_on_the_machines_devices(worker):
    names = [f"/dev/{name}" for name in ("full", "null", "random", "urandom", "zero")]
    assert worker.run(touched, [*names, "/dev/shm"]).value == ["/dev/shm"]


def write_and_wait():
    import os
    import time

    for folder in (".", "/dev/shm"):
        with open(f"{folder}/note.txt", "w") as file:
            file.write("mine")
    os.fork()  # seen from outside: the notes are written
    time.sleep(1000)


def notes():
    import os

    return [name for name in ("note.txt", "/tmp/note.txt", "/dev/shm/note.txt") if os.path.exists(name)]


def test_another_childs_files_are_not_there(worker):
    first = worker.start(write_and_wait)
    worker.ask("until", 2)
    beside = worker.run(notes).value
    worker.finish(first, 0.0)
    assert beside == worker.run(notes).value == []


def test_the_work_folder_shows_only_the_way_to_what_is_readable(worker, files):
    [names] = worker.run(listing, "/tmp").value
    assert files.suites.parent.name in names
    shown = [*sandbox.command([], readable=[files.suites])]
    assert all(any(f"/tmp/{name}" in word for word in shown) for name in names)
