"""docs/authors.md: whoever follows it word for word has an exercise that the audit finds nothing in."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from grader.course.paths import ROOT
from tests.grader.support.clone import Clone

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "authors.md").read_text("utf-8")
MOST_LINES = 225
"""Of an exercise's five files, as the page promises."""

_BLOCK = re.compile(r"(?:^\*\*`(?P<file>\S+)`\*\*\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    """A file to write, or commands to run, or what is shown."""

    file: str | None
    kind: str
    text: str


BLOCKS = [Block(**found.groupdict()) for found in _BLOCK.finditer(PAGE)]
FILES = {block.file: block.text for block in BLOCKS if block.file}
SHOWN = [line for block in BLOCKS if block.kind == "text" for line in block.text.splitlines() if line != "…"]


class Followed(NamedTuple):
    """Where it leads to: the folder, which of the files were there already, and all that was printed."""

    root: Path
    made: set[str]
    printed: str


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    clone.add("sound")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(clone.root)}
    made, printed = set(), []
    for block in BLOCKS:
        if block.file:
            made |= {block.file} if (clone.root / block.file).is_file() else set()
            (clone.root / block.file).write_text(block.text, "utf-8")
        elif block.kind == "sh":
            command = ["bash", "-euc", block.text]
            done = subprocess.run(
                command, cwd=clone.root, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            printed.append(done.stdout)
    return Followed(clone.root, made, "".join(printed))


def test_it_ends_without_problems(followed):
    assert followed.printed.count("audit: 1 exercises, no problems\n") == 2, "in the clone, and in a course"
    assert "no wrong specimens fail as another does" in followed.printed


def test_what_is_shown_is_what_is_printed(followed):
    assert len(SHOWN) == 2
    assert [line for line in SHOWN if line not in followed.printed.splitlines()] == []


def test_every_file_of_the_page_was_begun_by_kata_new(followed):
    assert followed.made == set(FILES)


def test_an_exercise_takes_no_more_lines_than_is_said():
    five = {name: text for name, text in FILES.items() if name.endswith((".py", ".txt"))}
    assert len(five) == 5
    assert sum(text.count("\n") for text in five.values()) <= MOST_LINES
