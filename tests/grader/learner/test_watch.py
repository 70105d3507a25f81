"""The learner's loop, driven through a real terminal."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest

from tests.grader.support.clone import SOLUTION, Clone

pytestmark = pytest.mark.slow

LOOP = SOLUTION.replace("return x * 2.0", "while True:\n        pass")
PATIENCE = 60.0


class Terminal:
    """`kata watch` in a terminal of its own; what it shows, and keys for it."""

    def __init__(self, clone, command=("-m", "grader", "watch"), **environment):
        self.main, other = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, *command],
            cwd=clone.root,
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
    terminal.expect("yours   [3, 3, 3]")
    save(SOLUTION)
    terminal.expect("✓ double")
    terminal.expect("solutions/e01_tensors/ex01_double.py")
    terminal.expect("1/2")
    terminal.press("n")
    terminal.expect("· twice · Double")
    terminal.press("h")
    terminal.expect("hint 1/1")
    terminal.press("\x1b[A")  # an arrow is no key of ours, and its last letter neither
    terminal.press("l")
    assert "checking all" not in terminal.expect("✓  1 double")
    terminal.press("a")
    terminal.expect("checking all")
    terminal.expect("all are checked")
    save(SOLUTION, "twice", 2)
    terminal.expect("✓ twice")
    terminal.expect("2/2")
    terminal.press("r")
    terminal.expect("y / n")
    terminal.press("n")
    terminal.expect("nothing was changed")
    terminal.press("r")
    terminal.expect("y / n")
    terminal.press("y")
    terminal.expect("is back at its start; your version is in")
    assert list((clone.root / ".kata" / "backups").iterdir())
    terminal.press("q")
    terminal.expect("until next time")
    assert terminal.process.wait(timeout=PATIENCE) == 0
    seen = json.loads((clone.root / ".kata" / "progress.json").read_text())["states"]
    assert seen["double"][0] == "done"


def test_what_is_saved_while_it_warms_up_is_judged_then(clone, save):
    terminal = Terminal(clone)
    try:
        terminal.expect("warming up")
        time.sleep(1.0)  # the watch on files has begun, torch is not imported yet
        save(SOLUTION)
        assert "ready." in terminal.expect("✓ double")
    finally:
        terminal.close()


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
    terminal.expect("is gone")
    file.with_suffix(".txt").rename(file)
    terminal.expect("exit status 3")
    save(LOOP)
    terminal.expect("checking double")
    save(SOLUTION)
    assert "endless loop" not in terminal.expect("✓ double")
    assert terminal.process.poll() is None


def test_an_endless_loop_is_stopped_and_an_editor_opened(clone, save, tmp_path):
    clone.catalog.write_text(clone.catalog.read_text().replace("points = 1", "points = 1\nseconds = 1.0"))
    editor = tmp_path / "editor.py"
    editor.write_text("import sys\ninput('type: ')\nopen(sys.argv[1], 'a').write('\\n# edited')\n")
    terminal = Terminal(clone, EDITOR=f"{sys.executable} {editor}")
    try:
        terminal.expect("[q]uit")
        save(LOOP)
        terminal.expect("endless loop")
        save(SOLUTION)
        terminal.expect("✓ double")
        terminal.press("e")
        terminal.expect("type: ")
        terminal.press("q quit, n next\n")  # for the editor, not for us
        terminal.expect("✓ double")
        assert terminal.process.poll() is None
    finally:
        terminal.close()


def test_without_fork_a_fresh_process_judges(clone, save):
    forkless = "import os, sys; del os.fork; from grader.cli import main; sys.argv[1:] = ['watch']; main()"
    terminal = Terminal(clone, ("-c", forkless))
    try:
        terminal.expect("no fork here")
        terminal.expect("[q]uit")
        save(SOLUTION.replace("2.0", "3.0"))
        terminal.expect("✗ double")
        terminal.expect("yours   [3, 3, 3]")
        terminal.expect("exercises/e01_tensors/ex01_double.py")
        save(SOLUTION.replace("return x", "print('word')\n    return x"))
        terminal.expect("✓ double")
        terminal.expect("word")
        save("import os\nos._exit(3)\n")
        terminal.expect("exit status 3")
        terminal.press("n")
        terminal.expect("· twice · Double")
    finally:
        terminal.close()
