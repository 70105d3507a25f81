"""Attacks on resources: time, memory, disk, processes, descriptors, output."""

from tests.grader.hostile.answers import Hostile

RESOURCES = [
    Hostile(
        "an endless loop in Python",
        instead="def merge_heads(x):\n    while True: pass\n",
        statuses=("timeout",),
    ),
    Hostile("an endless loop at import", "while True: pass", statuses=("timeout",)),
    Hostile(
        "an endless loop in C",
        instead="import re\ndef merge_heads(x):\n    re.match(r'(a|a|b?)*$' * 3, 'a' * 60 + 'c')\n",
        statuses=("timeout",),
    ),
    Hostile(
        "a loop that catches the alarm",
        instead="def merge_heads(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException:\n            pass\n",
        statuses=("timeout",),
    ),
    Hostile(
        "ignores the alarm",
        instead="import signal\ndef merge_heads(x):\n    signal.setitimer(signal.ITIMER_REAL, 0)\n    while True: pass\n",
        statuses=("timeout",),
    ),
    Hostile(
        "all memory",
        instead="def merge_heads(x):\n    return bytearray(1 << 40)\n",
        statuses=("failed", "memory"),
    ),
    Hostile(
        "all memory at import",
        "x = []\nwhile True: x.append(bytearray(1 << 26))",
        # crashed where the machine has less than an answer may use; timeout where it is slow to find it
        statuses=("memory", "broken", "crashed", "timeout"),
    ),
    Hostile(
        "all memory in tensors",
        instead="import torch\nheld = []\ndef merge_heads(x):\n    while True: held.append(torch.ones(1 << 26))\n",
        statuses=("failed", "memory", "crashed", "timeout"),
    ),
    Hostile(
        "fills the disk",
        "with open('/tmp/big', 'wb') as f:\n    while True: f.write(bytes(1 << 24))",
        statuses=("broken",),
        says="OSError",
    ),
    Hostile(
        "millions of files",
        "import os\nfor i in range(10**7): open(f'/tmp/f{i}', 'w').close()",
        statuses=("broken", "timeout"),
    ),
    Hostile(
        "a fork bomb",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        statuses=("timeout", "crashed"),
    ),
    Hostile(
        "a daemon that stays",
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n    os._exit(0)",
        statuses=("failed",),
    ),
    Hostile(
        "all descriptors", "import os\nheld = []\nwhile True: held.append(os.dup(1))", statuses=("broken",)
    ),
    Hostile(
        "gigabytes of output",
        instead="def merge_heads(x):\n    for _ in range(2000): print('x' * 1_000_000)\n    return x\n",
        statuses=("failed", "timeout"),
    ),
    Hostile(
        "gigabytes of output by descriptor",
        "import os\nfor _ in range(2000):\n    for fd in range(1, 64):\n        try:\n            os.write(fd, bytes(1_000_000))\n        except OSError:\n            pass",
        statuses=("tampered", "crashed", "timeout"),
    ),
    Hostile(
        "a message of a gigabyte",
        instead="def merge_heads(x):\n    raise ValueError('x' * (1 << 28))\n",
        statuses=("failed", "memory", "timeout"),
    ),
    Hostile(
        "a repr that never ends",
        instead="class R:\n    def __repr__(self):\n        while True: pass\ndef merge_heads(x):\n    return R()\n",
        statuses=("failed", "timeout"),
    ),
    Hostile(
        "thousands of threads",
        "import threading, time\nfor _ in range(5000): threading.Thread(target=time.sleep, args=(100,), daemon=True).start()",
        statuses=("broken", "failed", "crashed", "timeout"),
    ),
]
