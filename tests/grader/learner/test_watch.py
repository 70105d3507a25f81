"""The learner's loop, driven through a real terminal."""

import json
import sys
import time

import pytest

from tests.grader.support.clone import SOLUTION, Clone
from tests.grader.support.terminal import PATIENCE, Terminal

pytestmark = pytest.mark.slow

LOOP = SOLUTION.replace("return x * 2.0", "while True:\n        pass")


@pytest.fixture
def clone(tmp_path):
    clone = Clone(tmp_path)
    clone.add("double", hints='["First.", "Second."]')
    clone.add("twice")
    clone.commit()
    return clone


@pytest.fixture
def terminal(clone):
    terminal = Terminal(clone.root)
    terminal.expect("ready:")
    terminal.expect("[q]uit")
    yield terminal
    terminal.close()


@pytest.fixture
def save(clone):
    def save(text, slug="double", number=1):
        (clone.root / "exercises" / "e01_tensors" / f"{slug}.py").write_text(text)

    return save


def test_a_session_from_stub_to_section(terminal, save, clone):
    save(SOLUTION.replace("2.0", "3.0"))
    terminal.expect("✗ double")
    terminal.expect("yours (4,)")
    save(SOLUTION)
    terminal.expect("✓ double")
    terminal.expect("solutions/e01_tensors/double.py")
    terminal.expect("1/2")
    terminal.press("n")
    terminal.expect("· twice · Double")
    terminal.press("h")
    terminal.expect("hint 1/1")
    terminal.press("\x1b[A")  # an arrow is no key of ours, and its last letter neither
    terminal.press("l")
    assert "checking all" not in terminal.expect("✓ ex01 double")
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


def test_the_first_minutes_of_somebody_who_is_new(clone):
    """The question, what is asked, a wrong save, a right one, and on; the next time nobody asks."""
    clone.add_step("half")
    step = clone.root / "exercises" / "e01_tensors" / "steps" / "half.py"
    terminal = Terminal(clone.root)
    try:
        assert "warming up" not in terminal.expect("How well do you know PyTorch?")
        terminal.expect("press 1, 2 or 3")
        terminal.press("1")
        terminal.expect("· half · Double a tensor.")
        terminal.expect("def double(x):")
        terminal.expect("ready: open exercises/e01_tensors/steps/half.py, write, save")
        step.write_text(SOLUTION.replace("2.0", "3.0"))
        terminal.expect("✗ half")
        step.write_text(SOLUTION)
        terminal.expect("✓ half")
        terminal.expect("1/1")
        terminal.press("n")
        terminal.expect("· double · Double a tensor.")
        terminal.press("q")
        terminal.expect("until next time")
    finally:
        terminal.close()
    again = Terminal(clone.root)
    try:
        assert "PyTorch?" not in again.expect("ready: open exercises/e01_tensors/double.py")
    finally:
        again.close()


def test_what_is_saved_while_it_warms_up_is_judged_then(clone, save):
    terminal = Terminal(clone.root)
    try:
        terminal.expect("warming up")
        time.sleep(1.0)  # the watch on files has begun, torch is not imported yet
        save(SOLUTION)
        assert "ready:" in terminal.expect("✓ double")
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
    file = clone.root / "exercises" / "e01_tensors" / "double.py"
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
    terminal = Terminal(clone.root, EDITOR=f"{sys.executable} {editor}")
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


@pytest.mark.parametrize("there", ["del os.fork", "sys.platform = 'darwin'"])
def test_without_fork_a_fresh_process_judges(clone, save, there):
    found = "import sysconfig; sysconfig.get_config_vars()"  # in a file of this platform's
    line = f"import os, sys; from grader.cli import main; {found}; {there}; sys.argv[1:] = ['watch']; main()"
    terminal = Terminal(clone.root, (sys.executable, "-c", line))
    try:
        terminal.expect("no fork here")
        terminal.expect("[q]uit")
        save(SOLUTION.replace("2.0", "3.0"))
        terminal.expect("✗ double")
        terminal.expect("yours (4,)")
        terminal.expect("exercises/e01_tensors/double.py")
        save(SOLUTION.replace("return x", "print('word')\n    return x"))
        terminal.expect("✓ double")
        terminal.expect("word")
        save("import os\nos._exit(3)\n")
        terminal.expect("exit status 3")
        terminal.press("n")
        terminal.expect("· twice · Double")
    finally:
        terminal.close()
