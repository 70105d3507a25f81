"""A step or an exercise: what the catalog says of it, where its files lie, and how its answers are read."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from grader.course import paths, project
from grader.course.bug_pool import BugPool

Tree = Literal["exercises", "solutions", "public", "hidden", "specimens"]

Kind = Literal["build", "fix", "project"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Way = Literal["first", "core", "further"]
PATHS: tuple[Way, ...] = get_args(Way)

FOLDERS: dict[Tree, Path] = {
    "exercises": Path("exercises"),
    "solutions": Path("solutions"),
    "public": Path("tests", "public"),
    "hidden": Path("tests", "hidden"),
    "specimens": Path("tests", "specimens"),
}
"""The mirrored places, from a course's folder."""

STEPS = "steps"
"""The folder of a section's first steps, in each of the mirrored places but `hidden`."""

_HARDEST = 3

SLOW_SECONDS = 120.0
"""What a check that is marked `slow` may take beyond its exercise's `seconds`: interpreters start slowly."""


@dataclass(frozen=True)
class Exercise:
    """One row of the catalog.

    ``order`` is its place among its section's steps or exercises, from 1 on, which a person may type.
    ``difficulty`` goes from 1 to 3, and ``minutes`` is what it takes somebody who has done what it ``needs``.
    ``seconds`` is the wall-clock limit for judging one answer; ``path`` tells whether it is a step, which
    comes before exercises of its section (first), or an exercise that a first reader works through (core)
    or comes back for (further). Who goes front to back leaves ``optional`` steps out. ``start`` is the digest
    of what a learner begins with. ``set_in`` is the assignment of the course that it is in, if it is in one.
    ``root`` is the folder that its mirrored places lie in. The answer to a ``project`` is a folder of many
    files (`grader.course.project`), to all others one file. A capstone has a ``pool`` of bugs, and the number
    of its ``variant`` says which of them are in its start (`grader.course.variant`).

    No verdict depends on what comes after ``start``, nor on ``order``, ``minutes``, ``why`` or ``points``, so
    none is a part of the text that addresses hold.
    """

    slug: str
    section: str
    order: int = field(repr=False)
    title: str
    kind: Kind
    path: Way
    points: float = field(repr=False)
    difficulty: int
    needs: tuple[str, ...]
    concepts: tuple[str, ...]
    hints: tuple[str, ...]
    reading: str
    seconds: float = 10.0
    minutes: int = field(default=0, repr=False)
    optional: bool = False
    why: str = field(default="", repr=False)
    start: str = ""
    set_in: str = field(default="", repr=False)
    root: Path = field(default=paths.ROOT, repr=False)
    pool: BugPool = field(default=BugPool(), repr=False)
    variant: int = field(default=0, repr=False)

    def is_start(self, content: bytes) -> bool:
        """Whether nobody wrote anything yet. The file on disk does not tell: it may have been solved."""
        return self.digest(content) == self.start

    def digest(self, content: bytes) -> str:
        """What an answer would be known by, were it the start."""
        return digest(project.plain(content) if self.is_project else content)

    @property
    def is_project(self) -> bool:
        """Whether its answer is a folder of files."""
        return self.kind == "project"

    @property
    def is_capstone(self) -> bool:
        """Whether its start is one of many variants of a program with bugs."""
        return bool(self.pool.hints)

    @property
    def is_to_mend(self) -> bool:
        """Whether its start runs and is wrong: what that does as well earns nothing."""
        return self.kind == "fix" or self.is_capstone

    @property
    def is_step(self) -> bool:
        """Whether it is one of the first steps: one public suite, and no fine print."""
        return self.path == "first"

    @property
    def is_easy(self) -> bool:
        """Whether it is an exercise that a first reader meets among the steps, behind those that it needs."""
        return self.path == "core" and self.difficulty == 1

    @property
    def effort(self) -> str:
        """What an exercise asks of a learner: ``●●○ 20 min``. Of a step, nothing: all are small."""
        if self.is_step:
            return ""
        level = "●" * self.difficulty + "○" * (_HARDEST - self.difficulty)
        return f"{level} {self.minutes} min" if self.minutes else level

    @property
    def is_extra(self) -> bool:
        """Whether it weighs nothing, as steps and extras of assignments may: it is never missed."""
        return not self.points and bool(self.is_step or self.set_in)

    @property
    def number(self) -> str:
        """Its place in its section, as a person may type it: ``ex12``, ``s01``."""
        return f"{'s' if self.is_step else 'ex'}{self.order:02d}"

    @property
    def folder(self) -> str:
        """Where its files lie in each of the mirrored places: ``e01_tensors``, ``e01_tensors/steps``."""
        return f"{self.section}/{STEPS}" if self.is_step else self.section

    @property
    def name(self) -> str:
        """What its answer is called: ``merge_heads.py``, a project's folder ``small_lm``."""
        return self.slug if self.is_project else f"{self.slug}.py"

    @property
    def relative(self) -> str:
        """The answer's path inside a submission: ``e01_tensors/merge_heads.py``."""
        return f"{self.folder}/{self.name}"

    @property
    def assignment(self) -> str:
        """What it belongs to in a gradebook: ``week1``, else ``e01_tensors``, ``e01_tensors_steps``."""
        return self.set_in or self.folder.replace("/", "_")

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The mirrored places that hold a file of it: a step has no hidden suite."""
        return tuple(tree for tree in FOLDERS if tree != "hidden" or not self.is_step)

    @property
    def suites(self) -> tuple[Tree, ...]:
        """Those of its places that hold checks. The last has the oracle."""
        return tuple(tree for tree in self.trees if tree in ("public", "hidden"))

    @property
    def short(self) -> str:
        """Its section and slug, as a person may type it: ``e01/merge_heads``."""
        return f"{self.section.split('_')[0]}/{self.slug}"

    def file(self, tree: Tree) -> Path:
        """The exercise's file in one of the five mirrored places; of a project that with the statement."""
        place = self.place(tree)
        return place if place.suffix else place / project.START

    def place(self, tree: Tree) -> Path:
        """All of it in one of the five mirrored places: its file there, or the folder of a project."""
        prefix = "test_" if tree in ("public", "hidden") else ""
        is_folder = self.is_project and tree in ("exercises", "solutions")
        ending = ".txt" if tree == "specimens" else "" if is_folder else ".py"
        return self.root / FOLDERS[tree] / self.folder / f"{prefix}{self.slug}{ending}"

    def content(self, tree: Literal["exercises", "solutions"]) -> bytes:
        """The answer in one of these places, as it is judged; raises OSError where it cannot be read."""
        return self.read(self.place(tree))

    def read(self, place: Path) -> bytes:
        """The answer in a file, or in a project's folder, that may lie anywhere."""
        return project.content(place) if self.is_project else place.read_bytes()

    def text(self, content: bytes) -> str:
        """An answer as one text for people to read."""
        return project.text(content) if self.is_project else content.decode("utf-8", "replace")

    @property
    def data(self) -> Path:
        """The folder of a project's data, if it has any."""
        return self.place("exercises") / project.DATA

    @property
    def beside(self) -> tuple[Path, ...]:
        """What its suites rely on beside their own files: shared fixtures, and a project's data."""
        around = ((self.file(tree), self.root / FOLDERS[tree]) for tree in self.suites)
        folders = (above for file, top in around for above in file.parents if above.is_relative_to(top))
        shared = (folder / "conftest.py" for folder in folders)
        return (*filter(Path.is_file, shared), *(project.files(self.data) if self.is_project else ()))


def digest(start: bytes) -> str:
    """What a start is known by, whatever an editor or git did to its line ends and to the end of the file."""
    return hashlib.sha256(start.replace(b"\r\n", b"\n").strip()).hexdigest()[:16]
