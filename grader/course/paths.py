"""Where things stand in a clone of torchkata."""

from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXERCISES = ROOT / "exercises"
SOLUTIONS = ROOT / "solutions"
PUBLIC = ROOT / "tests" / "public"
HIDDEN = ROOT / "tests" / "hidden"
SPECIMENS = ROOT / "tests" / "specimens"
STATE = ROOT / ".kata"
"""A learner's local state: backups, progress. A cache; deleting it loses nothing that matters."""


def is_release() -> bool:
    """Whether this is a copy for students, without the checks that grade."""
    return not HIDDEN.is_dir()


def shown(path: Path) -> str:
    """A path as a person would type it: relative to the clone or to the current folder."""
    return _shown(path, Path.cwd())


@cache
def _shown(path: Path, here: Path) -> str:
    for base in (here, ROOT):
        try:
            return str(path.resolve().relative_to(base))
        except ValueError:
            continue
    return str(path)
