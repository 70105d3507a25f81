"""Where things stand: the course, found from the current folder upward, and the package that judges it."""

import os
import re
from functools import cache
from pathlib import Path

VARIABLE = "TORCHKATA_ROOT"
"""In the environment: the folder to look from instead of the current one. Our own processes get all folders
that exercises come from, as `PATH` names its own."""

PACKAGE = Path(__file__).resolve().parent.parent
"""The grader: in a clone, or where pip has put it."""

PACKAGED = PACKAGE / "content"
"""The course that a built wheel brings; in a clone there is none."""

SOURCE = PACKAGED if PACKAGED.is_dir() else PACKAGE.parent
"""The course that comes with the package: where `kata init` takes a learner's folder from."""

# A Python finds what is installed by itself; named first, that would hide parts of the standard library.
PYTHONPATH = "" if PACKAGE.parent.name in ("site-packages", "dist-packages") else str(PACKAGE.parent)
"""What a new process needs to import the grader."""

FILE = "course.toml"
"""What a course says of itself: its title, how it grades, its assignments."""


_SOURCES = re.compile(rb"^sources\s*=", re.MULTILINE)


def has_exercises(folder: Path) -> bool:
    """Whether exercises with a catalog lie there."""
    return any(folder.glob("exercises/e*/section.toml"))


def _is_course(folder: Path) -> bool:
    """Whether exercises lie there, or are to lie there: a course's file tells of sources beside its own."""
    file = folder / FILE
    return has_exercises(folder) or (file.is_file() and bool(_SOURCES.search(file.read_bytes())))


def named() -> tuple[Path, ...]:
    """The folders that the environment names."""
    return tuple(Path(one).resolve() for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one)


def _found() -> Path:
    """The course around us; elsewhere the clone that the package stands in; else a folder that is none.

    A course's file without exercises around it takes those that come with the package.
    """
    start = _start()
    around = (start, *start.parents)
    has_file = any((folder / FILE).exists() for folder in around)
    elsewhere = () if named() else (SOURCE if has_file else PACKAGE.parent,)
    return next(filter(_is_course, (*around, *elsewhere)), start)


def _start() -> Path:
    return next(iter(named()), Path.cwd().resolve())


def _file_found(root: Path) -> Path:
    """Where the course's own file lies: here or above, but not beyond exercises; else beside these."""
    start = _start()
    around = (folder for folder in (start, *start.parents) if (folder / FILE).exists() or folder == root)
    return next(around, root)


ROOT = _found()
COURSE = _file_found(ROOT)
"""The folder with `course.toml`, where there is one: the exercises may lie elsewhere."""
EXERCISES = ROOT / "exercises"
PUBLIC = ROOT / "tests" / "public"
HIDDEN = ROOT / "tests" / "hidden"
SPECIMENS = ROOT / "tests" / "specimens"
STATE = ROOT / ".kata"
"""A learner's local state: backups, progress. A cache; deleting it loses nothing that matters."""


def is_release() -> bool:
    """Whether this is a copy for students, without the checks that grade."""
    return EXERCISES.is_dir() and not HIDDEN.is_dir() and not (ROOT / FILE).exists()


def is_clone() -> bool:
    """Whether tool and course lie together, so that both can be worked on and handed out."""
    return (ROOT / "grader").is_dir()


def shown(path: Path) -> str:
    """A path as a person would type it: relative to the course or to the current folder."""
    return _shown(path, Path.cwd())


@cache
def _shown(path: Path, here: Path) -> str:
    for base in (here, ROOT):
        try:
            return str(path.resolve().relative_to(base))
        except ValueError:
            continue
    return str(path)
