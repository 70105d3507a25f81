"""A page that leads somewhere: its files and commands, followed word for word in a clone."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from grader.course.paths import ROOT
from tests.grader.support.clone import Clone

PAGE = (ROOT / "docs" / "authors.md").read_text("utf-8")

_BLOCK = re.compile(
    r"(?:^\*\*`(?P<file>\S+)`\*\*(?:, from `(?P<begin>[^`]+)` on)?\n\n)?"
    r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.M | re.S,
)


class Block(NamedTuple):
    """A file to write, from a line on or all of it, or commands to run, or what is shown."""

    file: str | None
    begin: str | None
    kind: str
    text: str


class Followed(NamedTuple):
    """Where it leads to: the folder, which of the files were there already, and all that was printed."""

    root: Path
    made: set[str]
    printed: str


def section(title: str) -> str:
    """What stands below a heading of the page."""
    return re.split(rf"^## {title}$", PAGE, flags=re.M)[1].partition("\n## ")[0]


def blocks(text: str) -> list[Block]:
    """What is to be written, run or seen, in its order."""
    return [Block(**found.groupdict()) for found in _BLOCK.finditer(text)]


def files(told: Iterable[Block]) -> dict[str, str]:
    """The texts that are to be written, by the paths of their files."""
    return {block.file: block.text for block in told if block.file}


def shown(told: Iterable[Block]) -> list[str]:
    """The lines that are to be seen."""
    return [line for block in told if block.kind == "text" for line in block.text.splitlines() if line != "…"]


def follow(told: Iterable[Block], root: Path) -> Followed:
    """Do what a page says, in a new clone."""
    clone = Clone(root)
    clone.add("sound")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(clone.root)}
    made, printed = set(), []
    for block in told:
        if block.file:
            file = clone.root / block.file
            made |= {block.file} if file.is_file() else set()
            before = file.read_text("utf-8").partition(block.begin)[0] if block.begin else ""
            file.write_text(before + block.text, "utf-8")
        elif block.kind == "sh":
            command = ["bash", "-euc", block.text]
            done = subprocess.run(
                command, cwd=clone.root, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            printed.append(done.stdout)
    return Followed(clone.root, made, "".join(printed))
