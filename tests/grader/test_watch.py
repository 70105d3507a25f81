"""The learner's loop, driven through a real terminal."""

import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest

from tests.grader.clone import SOLUTION, Clone

LOOP = SOLUTION.replace("return x * 2.0", "while True:\n        pass")
PATIENCE = 60.0


class Terminal:
    """`kata watch` in a terminal of its own; what it shows, and keys for it."""

    def __init__(self, clone):
        self.main, other = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "grader", "watch"],
            cwd=clone.root,
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment,
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


@pytest.fixture
def clone(tmp_path):
    clone = Clone(tmp_path)
    clone.add("double", hints='["First.", "Second."]')
    clone.add("twice")
    clone.commit()
    return clone


@pytest.fixture
def terminal(clone):
    terminal = Terminal(clone)
    terminal.expect("ready.")
    terminal.expect("[q]uit")
    yield terminal
    terminal.close()


@pytest.fixture
def save(clone):
    def save(text, slug="double", number=1):
        (clone.root / "exercises" / "e01_tensors" / f"ex{number:02d}_{slug}.py").write_text(text)

    return save


def test_a_session_from_stub_to_section(terminal, save, clone):
    save(SOLUTION.replace("2.0", "3.0"))
    terminal.expect("✗ double")
    terminal.expect("yours 3, wanted 2")
    save(SOLUTION)
    terminal.expect("✓ double")
    terminal.expect("solutions/e01_tensors/ex01_double.py")
    terminal.expect("1/2")
    terminal.press("n")
    terminal.expect("twice is still to do")
    terminal.press("h")
    terminal.expect("hint 1/1")
    terminal.press("l")
    terminal.expect("✓  1 double")
    save(SOLUTION, "twice", 2)
    terminal.expect("✓ twice")
    terminal.expect("2/2")
    terminal.press("q")
    terminal.expect("until next time")
    assert terminal.process.wait(timeout=PATIENCE) == 0
    assert '"done"' in (clone.root / ".kata" / "progress.json").read_text()


def test_it_survives_what_learners_do(terminal, save, clone):
    save("def double(x:\n")
    terminal.expect("does not import")
    save(SOLUTION.replace("return x * 2.0", "breakpoint()"))
    terminal.expect("pytest -s -k double")
    save(SOLUTION.replace("return x", "print('word ' * 100000)\n    return x"))
    terminal.expect("✓ double")
    terminal.expect("printed:")
    save("import os\nos._exit(3)\n")
    terminal.expect("exit status 3")
    file = clone.root / "exercises" / "e01_tensors" / "ex01_double.py"
    file.rename(file.with_suffix(".txt"))
    file.with_suffix(".txt").rename(file)
    save(SOLUTION)
    terminal.expect("✓ double")
    assert terminal.process.poll() is None


def test_an_endless_loop_is_stopped_and_the_next_save_judged(clone, save):
    clone.catalog.write_text(clone.catalog.read_text().replace("points = 1", "points = 1\nseconds = 1.0"))
    terminal = Terminal(clone)
    try:
        terminal.expect("[q]uit")
        save(LOOP)
        terminal.expect("endless loop")
        save(SOLUTION)
        terminal.expect("✓ double")
    finally:
        terminal.close()


def test_reset_asks_and_keeps_a_backup(terminal, save, clone):
    save(SOLUTION)
    terminal.expect("✓ double")
    terminal.press("r")
    terminal.expect("y / n")
    terminal.press("n")
    terminal.expect("nothing was changed")
    terminal.press("r")
    terminal.expect("y / n")
    terminal.press("y")
    terminal.expect("is back at its start")
    assert list((clone.root / ".kata" / "backups").iterdir())
