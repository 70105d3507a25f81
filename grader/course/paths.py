"""Where things stand: the course, found from the current folder upward, and the package that judges it."""

import os
from functools import cache
from pathlib import Path

VARIABLE = "TORCHKATA_ROOT"
"""In the environment: the folder to look from instead of the current one. Our own processes get it."""

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


def is_course(folder: Path) -> bool:
    """Whether exercises with a catalog lie there."""
    return any(folder.glob("exercises/e*/section.toml"))


def _found() -> Path:
    """The course around us; elsewhere the clone that the package stands in; else a folder that is none.

    A course's file without exercises around it takes those that come with the package.
    """
    named = os.environ.get(VARIABLE)
    start = Path(named or Path.cwd()).resolve()
    around = (start, *start.parents)
    has_file = any((folder / FILE).exists() for folder in around)
    elsewhere = () if named else (SOURCE if has_file else PACKAGE.parent,)
    return next(filter(is_course, (*around, *elsewhere)), start)


def _file_found(root: Path) -> Path:
    """Where the course's own file lies: here or above, but not beyond exercises; else beside these."""
    start = Path(os.environ.get(VARIABLE) or Path.cwd()).resolve()
    around = (folder for folder in (start, *start.parents) if (folder / FILE).exists() or folder == root)
    return next(around, root)


ROOT = _found()
COURSE = _file_found(ROOT)
"""The folder with `course.toml`, where there is one: the exercises may lie elsewhere."""
EXERCISES = ROOT / "exercises"
SOLUTIONS = ROOT / "solutions"
PUBLIC = ROOT / "tests" / "public"
HIDDEN = ROOT / "tests" / "hidden"
SPECIMENS = ROOT / "tests" / "specimens"
STATE = ROOT / ".kata"
"""A learner's local state: backups, progress. A cache; deleting it loses nothing that matters."""


def is_release() -> bool:
    """Whether this is a copy for students, without the checks that grade."""
    return EXERCISES.is_dir() and not HIDDEN.is_dir()


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
