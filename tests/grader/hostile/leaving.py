"""Leaving before the end."""

from tests.grader.hostile.answers import Hostile

LEAVING = [
    Hostile("os._exit at import", "import os\nos._exit(0)", statuses=("crashed",), says="left before"),
    Hostile(
        "os._exit at the first call",
        instead="import os\ndef merge_heads(x):\n    os._exit(0)\n",
        statuses=("crashed",),
        says="left before",
    ),
    Hostile("sys.exit at import", "import sys\nsys.exit(0)", statuses=("broken",), says="SystemExit"),
    Hostile("exit at a call", instead="def merge_heads(x):\n    raise SystemExit(0)\n", statuses=("failed",)),
    Hostile(
        "pytest.exit with status 0",
        instead="import pytest\ndef merge_heads(x):\n    pytest.exit('done', returncode=0)\n",
    ),
    Hostile("KeyboardInterrupt", instead="def merge_heads(x):\n    raise KeyboardInterrupt\n"),
    Hostile("GeneratorExit", instead="def merge_heads(x):\n    raise GeneratorExit\n"),
    Hostile("a segfault", "import ctypes\nctypes.string_at(0)", statuses=("crashed",), says="signal 11"),
    Hostile("abort", "import os\nos.abort()", statuses=("crashed",), says="signal"),
    Hostile(
        "SIGSTOP to itself",
        instead="import os, signal\ndef merge_heads(x):\n    os.kill(os.getpid(), signal.SIGSTOP)\n    return x\n",
        statuses=("failed", "timeout"),
    ),
    Hostile(
        "SIGKILL to itself",
        instead="import os, signal\ndef merge_heads(x):\n    os.kill(os.getpid(), signal.SIGKILL)\n    return x\n",
        statuses=("failed", "crashed"),
    ),
    Hostile(
        "recursion without end",
        instead="def merge_heads(x):\n    return merge_heads(x)\n",
        statuses=("failed",),
        says="RecursionError",
    ),
    Hostile(
        "recursion in C",
        instead="def merge_heads(x):\n    import sys\n    sys.setrecursionlimit(10**9)\n    return merge_heads(x)\n",
        statuses=("failed", "crashed", "memory", "timeout"),
    ),
    Hostile("exec of another program", "import os\nos.execv('/bin/true', ['true'])", statuses=("crashed",)),
    Hostile(
        "a fork whose child goes on",
        "import os\nif os.fork():\n    os._exit(0)",
        statuses=("crashed",),
    ),
]
