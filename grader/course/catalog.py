"""The catalog: order, title, points, effort, needs, concepts and hints of every step and exercise.

Each section's folder of exercises holds it as `section.toml`, and its folder of steps as `steps.toml`. That
is the only home of metadata, because learners break or forge what they edit; of what they hand in, it is
never read.
"""

import hashlib
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from grader.core.errors import KataError
from grader.course import course_file, paths, project, sources
from grader.course.course_file import near

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Tree = Literal["exercises", "solutions", "public", "hidden", "specimens"]

Kind = Literal["build", "fix", "project"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_FOLDERS: dict[Tree, Path] = {
    "exercises": Path("exercises"),
    "solutions": Path("solutions"),
    "public": Path("tests", "public"),
    "hidden": Path("tests", "hidden"),
    "specimens": Path("tests", "specimens"),
}

SECTION = "section.toml"
STEPS = "steps"
"""The folder of a section's first steps, in each of the mirrored places but `hidden`."""
STEPS_FILE = "steps.toml"
_STEP = {"path": "first", "kind": "build", "points": 0, "difficulty": 1, "reading": ""}
"""What a step's row need not say. What steps weigh in a grade, the course's policy says."""

_HARDEST = 3

SLOW_SECONDS = 120.0
"""What a check that is marked `slow` may take beyond its exercise's `seconds`: interpreters start slowly."""


@dataclass(frozen=True)
class Exercise:
    """One row of the catalog.

    ``difficulty`` goes from 1 to 3, and ``minutes`` is what it takes somebody who has done what it ``needs``.
    ``seconds`` is the wall-clock limit for judging one answer; ``path`` tells whether it is a step, which
    comes before the exercises of its section (first), or an exercise that a first reader works through (core)
    or comes back for (further). Who goes front to back leaves ``optional`` steps out. ``start`` is the digest
    of what a learner begins with. ``set_in`` is the assignment of the course that it is in, if it is in one.
    ``root`` is the folder that its mirrored places lie in. The answer to a ``project`` is a folder of many
    files (`grader.course.project`), to all others one file.

    No verdict depends on these, on ``minutes`` or on ``points``, so none is a part of the text that addresses
    hold.
    """

    slug: str
    section: str
    order: int
    title: str
    kind: Kind
    path: Literal["first", "core", "further"]
    points: float = field(repr=False)
    difficulty: int
    needs: tuple[str, ...]
    concepts: tuple[str, ...]
    hints: tuple[str, ...]
    reading: str
    seconds: float = 10.0
    minutes: int = field(default=0, repr=False)
    optional: bool = False
    start: str = field(default="", repr=False)
    set_in: str = field(default="", repr=False)
    root: Path = field(default=paths.ROOT, repr=False)

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
    def is_step(self) -> bool:
        """Whether it is one of the first steps: one public suite, and no fine print."""
        return self.path == "first"

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
    def stem(self) -> str:
        """The name of its files, without what comes before and after: ``ex12_merge_heads``, ``s01_dice``."""
        return f"{'s' if self.is_step else 'ex'}{self.order:02d}_{self.slug}"

    @property
    def folder(self) -> str:
        """Where its files lie in each of the mirrored places: ``e01_tensors``, ``e01_tensors/steps``."""
        return f"{self.section}/{STEPS}" if self.is_step else self.section

    @property
    def name(self) -> str:
        """What its answer is called: ``ex12_merge_heads.py``, a project's folder ``ex13_small_lm``."""
        return self.stem if self.is_project else f"{self.stem}.py"

    @property
    def relative(self) -> str:
        """The answer's path inside a submission: ``e01_tensors/ex12_merge_heads.py``."""
        return f"{self.folder}/{self.name}"

    @property
    def assignment(self) -> str:
        """What it belongs to in a gradebook: ``week1``, else ``e01_tensors``, ``e01_tensors_steps``."""
        return self.set_in or self.folder.replace("/", "_")

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The mirrored places that hold a file of it: a step has no hidden suite."""
        return tuple(tree for tree in _FOLDERS if tree != "hidden" or not self.is_step)

    @property
    def suites(self) -> tuple[Tree, ...]:
        """Those of its places that hold checks. The last has the oracle."""
        return tuple(tree for tree in self.trees if tree in ("public", "hidden"))

    @property
    def short(self) -> str:
        """Its place and slug, as a person may type it: ``e01/ex12_merge_heads``."""
        return f"{self.section.split('_')[0]}/{self.stem}"

    def file(self, tree: Tree) -> Path:
        """The exercise's file in one of the five mirrored places; of a project that with the statement."""
        place = self.place(tree)
        return place if place.suffix else place / project.START

    def place(self, tree: Tree) -> Path:
        """All of it in one of the five mirrored places: its file there, or the folder of a project."""
        prefix = "test_" if tree in ("public", "hidden") else ""
        ending = "" if self.is_project and tree in ("exercises", "solutions") else ".py"
        return self.root / _FOLDERS[tree] / self.folder / f"{prefix}{self.stem}{ending}"

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
        around = ((self.file(tree), self.root / _FOLDERS[tree]) for tree in self.suites)
        folders = (above for file, top in around for above in file.parents if above.is_relative_to(top))
        shared = (folder / "conftest.py" for folder in folders)
        return (*filter(Path.is_file, shared), *(project.files(self.data) if self.is_project else ()))


def digest(start: bytes) -> str:
    """What a start is known by, whatever an editor or git did to its line ends and to the end of the file."""
    return hashlib.sha256(start.replace(b"\r\n", b"\n").strip()).hexdigest()[:16]


@dataclass(frozen=True)
class Section:
    """A folder of exercises, in their order: the steps come first. Or an assignment, which may be due."""

    name: str
    title: str
    exercises: tuple[Exercise, ...]
    due: datetime | None = None

    def is_called(self, name: str) -> bool:
        """Whether a person means it: ``e01_tensors`` or ``e01``."""
        return name in (self.name, self.name.split("_")[0])

    @property
    def assignments(self) -> "tuple[Section, ...]":
        """The section as a gradebook has it: an assignment of its steps, and one of what is set as one."""
        found: dict[str, list[Exercise]] = {}
        for exercise in self.exercises:
            found.setdefault(exercise.assignment, []).append(exercise)
        return tuple(
            Section(name, self._title(held[0]), tuple(held), self.due) for name, held in found.items()
        )

    def _title(self, first: Exercise) -> str:
        return f"{self.title}: first steps" if first.is_step and not first.set_in else self.title


@dataclass(frozen=True)
class Catalog:
    """All sections, in the order of their names, and the assignments that the course makes of them."""

    sections: tuple[Section, ...]
    course: tuple[Section, ...] = ()

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        return tuple(e for section in self.sections for e in section.exercises)

    @property
    def assignments(self) -> tuple[Section, ...]:
        """What a gradebook has instead of sections: those of the course, then what it sets nowhere."""
        ours = {one.name for one in self.course}
        rest = (one for section in self.sections for one in section.assignments if one.name not in ours)
        return (*self.course, *rest)

    @property
    def set_exercises(self) -> tuple[Exercise, ...]:
        """What the course sets: the exercises of its assignments; without any, all."""
        return tuple(e for e in self.exercises if e.set_in) if self.course else self.exercises

    def assignment(self, name: str) -> Section:
        """The course's assignment of this name; raises KataError where there is none."""
        if found := next((one for one in self.course if one.name == name), None):
            return found
        names = [one.name for one in self.course]
        if not names:
            raise KataError(
                f"no assignment {name!r}: write it into course.toml, or name exercises with --only"
            )
        raise KataError(
            f"no assignment is called {name!r}{near(name, names)}; course.toml has {', '.join(names)}"
        )

    def exercise(self, slug: str) -> Exercise:
        """The exercise of just this slug; raises KataError where there is none."""
        for exercise in self.exercises:
            if exercise.slug == slug:
                return exercise
        raise self._unknown(slug)

    def find(self, name: str) -> Exercise:
        """The exercise that a person means: by its slug, its number, a file of it, or how these begin.

        ``merge``, ``ex20``, ``e01/ex12``, ``ex12_merge_heads``, ``exercises/e01_tensors/ex12_merge_heads.py``

        Raises:
            KataError: it may be several, or none.
        """
        found = self._meant(name)
        if len(found) == 1:
            return found[0]
        if not found and any(s.is_called(_parts(name)[-1]) for s in self.sections):
            raise KataError(f"{name!r} is a section; name one of its exercises, as `kata status` lists them")
        if not found:
            raise self._unknown(name)
        more = " and others" if len(found) > _MANY else ""
        raise KataError(
            f"{name!r} may be {', '.join(e.short for e in found[:_MANY])}{more}; name one of them"
        )

    def section(self, exercise: Exercise) -> Section:
        """The section that holds `exercise`."""
        return next(s for s in self.sections if s.name == exercise.section)

    def section_called(self, name: str) -> Section | None:
        """The section that a person means by this name, if one does."""
        return next((s for s in self.sections if s.is_called(name)), None)

    def select(self, names: list[str] | None) -> tuple[Exercise, ...]:
        """The exercises meant by names: all of a section (``e01``), its steps (``e01/steps``), single ones.

        Without names, all of them.
        """
        chosen = {exercise for name in names or () for exercise in self._named(name)}
        return tuple(e for e in self.exercises if e in chosen) if names else self.exercises

    def _named(self, name: str) -> tuple[Exercise, ...]:
        *folders, last = _parts(name)
        called = folders[-1] if last == STEPS and folders else last
        section = self.section_called(called)
        if section is None:
            return (self.find(name),)
        return tuple(e for e in section.exercises if e.is_step or last != STEPS)

    def _meant(self, name: str) -> list[Exercise]:
        *folders, last = _parts(name)
        if inside := [e for e in self.exercises if e.is_project and e.stem in folders]:
            return inside
        if STEPS in folders:
            folders.remove(STEPS)
        stem = re.sub(r"^test_(?=(ex|s)\d)", "", last.removesuffix(".py"))
        number = re.fullmatch(r"(ex|s)(\d+)", stem)
        begun = {
            e for e in self.exercises if (e.stem if re.match(r"(ex|s)\d", stem) else e.slug).startswith(stem)
        }
        those = [e for s in self.sections if not folders or s.is_called(folders[-1]) for e in s.exercises]
        return (
            [e for e in those if stem in (e.slug, e.stem)]
            or [e for e in those if number and (number[1] == "s", int(number[2])) == (e.is_step, e.order)]
            or [e for e in those if stem and e in begun]
        )

    def of_stem(self, stem: str) -> Exercise | None:
        """The exercise a file name belongs to: ``ex12_merge_heads``, or the bare slug.

        Whatever its number is: numbers are only the order, and change where an exercise is moved.
        """
        return next((e for e in self.exercises if e.slug in (stem, unnumbered(stem))), None)

    def _unknown(self, name: str) -> KataError:
        slug = unnumbered(_parts(name)[-1].removesuffix(".py").removeprefix("test_"))
        known = [*(e.slug for e in self.exercises), *(s.name for s in self.sections)]
        return KataError(f"no exercise is called {name!r}{near(slug, known)}; `kata status` lists them all")


_MANY = 10
"""So many exercises are named where one could be any of them."""


def unnumbered(stem: str) -> str:
    """The slug in a file's name: ``merge_heads`` of ``ex12_merge_heads``, and of itself."""
    return re.sub(r"^(ex|s)\d+_", "", stem)


def _parts(name: str) -> list[str]:
    """A name or path in parts, also one with a slash at its end."""
    return re.split(r"[/\\]+", name.rstrip("/\\"))


def _exercise(section: str, slug: str, row: dict[str, Any], source: Path, root: Path) -> Exercise:
    if source.parent.name == STEPS:
        row = {**_STEP, **row}
    if row.get("kind", KINDS[0]) not in KINDS:
        said = f"{paths.shown(source)}: exercise {slug!r} has kind = {row['kind']!r}"
        raise KataError(f"{said}; say one of {', '.join(KINDS)}")
    try:
        return Exercise(
            slug=slug,
            section=section,
            order=row["order"],
            title=row["title"],
            kind=row["kind"],
            path=row["path"],
            points=row["points"],
            difficulty=row["difficulty"],
            needs=tuple(row.get("needs", ())),
            concepts=tuple(row["concepts"]),
            hints=tuple(row.get("hints", ())),
            reading=row["reading"],
            seconds=row.get("seconds", 10.0),
            minutes=row.get("minutes", 0),
            optional=row.get("optional", False),
            start=row.get("start", ""),
            root=root,
        )
    except KeyError as missing:
        raise KataError(f"{paths.shown(source)}: exercise {slug!r} lacks {missing}; add it") from None


def read(folder: Path) -> Catalog:
    """Read every section's file in `folder`, in the order of the sections' names."""
    sections = []
    for source in sorted(folder.glob(f"e*/{SECTION}")):
        name, table = source.parent.name, _table(source)
        if "title" not in table:
            raise KataError(f"{paths.shown(source)} lacks the section's title; add it")
        steps = source.parent / STEPS / STEPS_FILE
        first = _rows(name, steps, _table(steps) if steps.is_file() else {}, folder.parent)
        sections.append(Section(name, table["title"], (*first, *_rows(name, source, table, folder.parent))))
    return Catalog(tuple(sections))


def joined(catalogs: Iterable[Catalog]) -> Catalog:
    """Several as one. A section may have exercises from each; of one slug, the first catalog's is meant.

    So a course keeps its own exercise when a source brings one of the same name.
    """
    titles: dict[str, str] = {}
    held: dict[str, list[Exercise]] = {}
    known: set[str] = set()
    for catalog in catalogs:
        for section in catalog.sections:
            titles.setdefault(section.name, section.title)
            held.setdefault(section.name, []).extend(e for e in section.exercises if e.slug not in known)
        known |= {e.slug for e in catalog.exercises}
    return Catalog(
        tuple(
            Section(name, titles[name], tuple(sorted(held[name], key=lambda e: (not e.is_step, e.order))))
            for name in sorted(held)
        )
    )


def _table(source: Path) -> dict[str, Any]:
    try:
        table: dict[str, Any] = tomllib.loads(source.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as broken:
        raise KataError(f"{paths.shown(source)} is not valid TOML: {broken}") from None
    return table


def _rows(section: str, source: Path, table: dict[str, Any], root: Path) -> list[Exercise]:
    """What a file of the catalog holds, in its order; a section that is to come has nothing yet."""
    rows = table.get("exercise", {}).items()
    return sorted((_exercise(section, slug, row, source, root) for slug, row in rows), key=lambda e: e.order)


def section_file(section: str, root: Path = paths.ROOT) -> Path:
    """Where the catalog's rows of a section's exercises stand."""
    return root / "exercises" / section / SECTION


def row_file(exercise: Exercise) -> Path:
    """Where the catalog's row of an exercise stands."""
    if exercise.is_step:
        return exercise.root / "exercises" / exercise.folder / STEPS_FILE
    return section_file(exercise.section, exercise.root)


def rows_of(text: str) -> list[str]:
    """What stands before the exercises in a section's file, and the table of each, as they are written."""
    return re.split(r"^(?=\[exercise\.)", text, flags=re.MULTILINE)


@cache
def load() -> Catalog:
    """The catalog of this course, with its assignments, and the points that it gives.

    Raises:
        KataError: there is none here, or it cannot be read.
    """
    from grader.course.assignments import arranged

    found, course = joined(map(read, sources.each("exercises"))), course_file.load()
    if not found.sections and not (paths.ROOT / paths.FILE).exists():
        raise KataError(
            f"no course here: neither {paths.ROOT} nor a folder above it holds exercises; "
            "`kata init DIR` makes one"
        )
    weighed = tuple(replace(s, exercises=_weighed(s.exercises, course.policy.steps)) for s in found.sections)
    return arranged(Catalog(weighed), course)


def _weighed(exercises: tuple[Exercise, ...], steps: float) -> tuple[Exercise, ...]:
    return tuple(replace(e, points=steps) if e.is_step else e for e in exercises)
