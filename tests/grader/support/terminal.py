"""A terminal for programs that show and ask, such as `kata watch`."""

import os
import pty
import re
import select
import subprocess
import sys
import time

KATA_WATCH = (sys.executable, "-m", "grader", "watch")
PATIENCE = 60.0


class Terminal:
    """A program in a terminal of its own; what it shows, and keys for it."""

    def __init__(self, folder, command=KATA_WATCH, **environment):
        self.main, other = pty.openpty()
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=other,
            stdout=other,
            stderr=other,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40", **environment},
            start_new_session=True,
        )
        os.close(other)
        self.shown = ""

    def expect(self, words):
        """Read until `words` appear; what was shown before them is forgotten."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.shown:
            if not select.select([self.main], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"{words!r} was not shown, only:\n{self.shown}")
            try:
                piece = os.read(self.main, 65536).decode(errors="replace")
            except OSError:
                piece = ""
            if not piece:
                raise AssertionError(f"the program ended before it showed {words!r}:\n{self.shown}")
            self.shown += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", piece)
        before, _, self.shown = self.shown.partition(words)
        return before

    def press(self, key):
        os.write(self.main, key.encode())

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.main)
