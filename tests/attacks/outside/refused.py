r"""Tries what is refused.
deserves = ["broken"]
says = "it was refused"
[each]
connects_to_the_internet = "socket.create_connection(('1.1.1.1', 53), timeout=1)"
asks_a_name_server = "socket.getaddrinfo('example.com', 80)"
sends_a_datagram = "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))"
opens_a_raw_socket = 'socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'
listens_at_a_port = "socket.create_server(('127.0.0.1', 0))"
opens_a_terminal = 'os.openpty()'
listens_for_a_packet_socket = 'socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'
kills_its_parent = 'os.kill(os.getppid() or 10**6, signal.SIGKILL)'
writes_into_the_clone = "open('{root}/README.md', 'r+')"
deletes_a_classmate_s_work = "os.remove('{work}/neighbour/e01_tensors/merge_heads.py')"
overwrites_its_results = "open('{out}/neighbour.json', 'r+')"
writes_into_python_s_own_library = "open(os.__file__, 'a')"
makes_a_device = "os.mknod('/tmp/device', 0o666 | 0o060000, os.makedev(8, 0))"
locks_everybody_out_of_a_device = "os.chmod('/dev/full', 0)"
leaves_a_note_on_a_device = "os.utime('/dev/full')"
has_a_crash_start_a_program = "import resource; resource.prlimit(0, resource.RLIMIT_CORE, (0, 0))"
opens_the_kernel_s_memory = "open('/dev/mem', 'rb')"
mounts_a_file_system = '''
import ctypes
    if ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None): raise OSError'''
changes_the_root = "os.chroot('/tmp')"
becomes_root = 'os.setuid(0)'
traces_a_process = '''
import ctypes
    if ctypes.CDLL(None).ptrace(16, 1, 0, 0): raise OSError'''
changes_the_clock = '''
import time
    time.clock_settime(time.CLOCK_REALTIME, 0)'''
has_others_wait_for_a_file = "import fcntl; fcntl.fcntl(open(os.__file__), 1024, fcntl.F_WRLCK)"
is_told_of_changes = "import fcntl; fcntl.fcntl(os.open('/usr', os.O_RDONLY), 1026, 2)"
makes_large_pipes = "import fcntl; fcntl.fcntl(os.pipe()[0], 1031, 1 << 20)"
pairs_sockets_of_another_family = "socket.socketpair(30, socket.SOCK_STREAM)"
asks_the_system_bus = "socket.socket(socket.AF_UNIX).connect('/run/dbus/system_bus_socket')"
asks_the_containers = "socket.socket(socket.AF_UNIX).connect('SOCKET')"
asks_by_an_abstract_name = "socket.socket(socket.AF_UNIX).connect('\\0NAME')"
"""
import os, signal, socket
try:
    EACH
    what = 'done'
except OSError as error:
    what = 'refused'
raise RuntimeError('it was ' + what)
