"""`kata capstone`: a variant is laid out, what was there is kept, and hints follow what was seen."""

import json
import subprocess
import sys

import pytest

from grader.course import variant
from tests.grader.support.capstone import NAMES, SLUG, add_capstone, exercise
from tests.grader.support.clone import Clone
from tests.grader.support.terminal import KATA_WATCH, Terminal

pytestmark = pytest.mark.slow


@pytest.fixture
def clone(tmp_path):
    clone = Clone(tmp_path / "clone")
    clone.add("double")
    add_capstone(clone)
    clone.commit()
    return clone


@pytest.fixture
def chosen(tmp_path):
    made = exercise(tmp_path / "aside")
    return lambda seed: variant.chosen(made, seed)


def place(clone):
    return clone.root / "exercises/e01_tensors" / SLUG


def title(name):
    return f"The sum of {name} is too small."


def wrong_in(clone):
    text = "".join(file.read_text() for file in place(clone).glob("*.py"))
    return {name for n, name in enumerate(NAMES, 100) if f"x - {n}" in text}


def mend(clone, *names):
    for file in place(clone).glob("*.py"):
        text = file.read_text()
        for name in names:
            n = 100 + NAMES.index(name)
            text = text.replace(f"x - {n}", f"x + {n}")
        file.write_text(text)


def judge(clone):
    """Run all of its checks, as a learner does."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "-k", SLUG]
    return subprocess.run(command, cwd=clone.root, capture_output=True, text=True, check=False).stdout


def test_a_variant_is_laid_out_and_taken_back(clone, chosen):
    assert wrong_in(clone) == {*chosen(0)}
    code, lines = clone.kata("capstone", SLUG, "--seed", "7")
    assert code == 0 and lines[0].startswith(f"variant 7 of {SLUG} lies in exercises/e01_tensors/{SLUG}")
    assert f"read exercises/e01_tensors/{SLUG}/README.md first" in lines
    assert not any("your version" in line for line in lines), "nobody had written anything"
    assert wrong_in(clone) == {*chosen(7)}
    assert clone.kata("reset", SLUG, "--yes")[1] == [f"exercises/e01_tensors/{SLUG} is at its start already"]
    (place(clone) / "late.py").write_text("mine")
    (place(clone) / "notes.txt").write_text("mine")
    code, lines = clone.kata("reset", SLUG, "--yes")
    assert code == 0 and "your version is in" in lines[0]
    assert wrong_in(clone) == {*chosen(7)} and not (place(clone) / "notes.txt").exists()
    (place(clone) / "late.py").write_text("mine")
    code, lines = clone.kata("capstone", SLUG, "--seed", "0")
    assert code == 0 and "your version is in .kata/backups" in lines[1]
    assert wrong_in(clone) == {*chosen(0)}
    assert "lies in" in clone.kata("capstone", SLUG)[1][0], "0 is not done"


def test_hints_are_about_what_was_seen_and_the_next_variant_comes(clone, chosen):
    first, second, *rest = chosen(0)
    assert clone.kata("hint", SLUG)[1] == [f"hint 1/3  what {first} says"]
    judge(clone)
    assert clone.kata("hint", SLUG)[1] == [f"hint 2/3  print {first}"]
    mend(clone, first)
    assert clone.kata("hint", SLUG)[1] == [f"hint 3/3 (the last one)  where {first} is"], "not judged yet"
    judge(clone)
    assert clone.kata("hint", SLUG)[1] == [f"hint 1/3  what {second} says"]
    mend(clone, second, *rest)
    judge(clone)
    assert clone.kata("capstone", "--list")[1] == [f"{SLUG}: 12 bugs; variant 0 lies here; done: 0"]
    code, lines = clone.kata("capstone", SLUG)
    assert code == 0 and lines[0].startswith("variant 1 of")
    assert wrong_in(clone) == {*chosen(1)}
    assert clone.kata("hint", SLUG)[1] == [f"hint 1/3  what {chosen(1)[0]} says"]


def test_what_cannot_be_laid_out_is_told_in_a_line(clone):
    code, lines = clone.kata("capstone", "double")
    assert code == 2 and lines == ["kata: double is no capstone; `kata capstone --list` lists them"]
    for file in (clone.root / "solutions/e01_tensors" / SLUG).iterdir():
        file.unlink()
    code, lines = clone.kata("capstone", SLUG, "--seed", "3")
    assert code == 2 and len(lines) == 1 and "a clone does" in lines[0]


def test_watch_follows_the_folder_from_the_start_to_the_page(clone, chosen):
    first, second, *rest = chosen(0)
    assert "from now on" in " ".join(clone.kata("capstone", SLUG, "--timer")[1])
    code, lines = clone.kata("capstone", SLUG, "--page")
    assert code == 2 and len(lines) == 1 and "once variant 0 of" in lines[0]
    terminal = Terminal(clone.root, (*KATA_WATCH, SLUG))
    try:
        terminal.expect("0 of 5 mended, 0 min")
        mend(clone, first, second)
        terminal.expect("2 of 5 mended, 0 min; left:")
        assert title(first) not in terminal.expect(title(rest[-1]))
        terminal.press("w")
        terminal.expect("what was wrong is shown once")
        (place(clone) / "late.py").write_text("raise ValueError\n")
        assert "mended" not in terminal.expect("ValueError")
        assert clone.kata("capstone", SLUG)[1][0].endswith("puts it back")
        clone.kata("reset", SLUG, "--yes")
        terminal.expect("0 of 5 mended")
        mend(clone, *chosen(0))
        terminal.expect("5 of 5 mended, 0 min")
        terminal.expect("w shows what was wrong")
        terminal.press("w")
        terminal.expect(f"{SLUG}, variant 0: 5 bugs")
        terminal.expect("as a page: .kata/capstones/")
    finally:
        terminal.close()
    assert (clone.root / f".kata/capstones/{SLUG}-0.html").is_file()
    code, lines = clone.kata("capstone", SLUG, "--page")
    assert code == 0 and lines[1] == f"as a page: .kata/capstones/{SLUG}-0.html"
    assert sum(line.startswith("  time") for line in lines) == 5
    assert clone.kata("capstone", "double", "--page")[0] == 2


def test_what_pytest_saw_counts_too(clone, chosen):
    first, *rest = chosen(0)
    clone.kata("capstone", SLUG, "--timer")
    mend(clone, first)
    judge(clone)
    kept = json.loads((clone.root / ".kata/progress.json").read_text())["capstones"][SLUG]
    assert f"test_{first}" in kept["held"] and f"test_{rest[0]}" not in kept["held"]
    mend(clone, *rest)
    judge(clone)
    assert clone.kata("capstone", SLUG, "--page")[0] == 0
