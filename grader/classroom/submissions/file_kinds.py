"""What a file or folder in a hand-in may be, by its name alone."""

import re

from grader.classroom.submissions.io import archives
from grader.course import sources
from grader.course.rows import SECTION, STEPS_FILE

CLONE = "exercises"
"""A student may hand in a whole clone; the answers then lie in this folder of it."""
FOREIGN = frozenset({"__MACOSX", "__pycache__", "venv", "node_modules"})
_QUIET = frozenset({"__pycache__", "__init__.py", SECTION, STEPS_FILE})
_CODE = re.compile(r"\.py(\.txt)?$", re.IGNORECASE)


def is_code(name: str) -> bool:
    """Whether a file holds Python."""
    return _CODE.search(name) is not None


def may_answer(name: str) -> bool:
    """Whether a file could hold answers, whatever it is called."""
    return is_code(name) or archives.is_notebook(name) or archives.is_archive(name)


def quiet(name: str) -> bool:
    """Names that come along without anybody meaning anything by it."""
    return name.startswith((".", "README", "LICENSE")) or name in _QUIET


def is_meant(name: str) -> bool:
    """Whether somebody may mean anything by a file: one that is hidden may hold answers all the same."""
    return not quiet(name) or (may_answer(name) and not name.startswith(("._", "__")))


def is_shipped(name: str) -> bool:
    """Whether it comes with every clone of ours."""
    return any(place.exists() for place in sources.each(name))


def is_shipped_inside(where: str) -> bool:
    """Whether it comes with every clone of ours, in a folder of `exercises`: ``week1/e01_tensors/see.py``."""
    folder, _, name = where.rpartition("/")
    inside = (CLONE, folder.rpartition("/")[2], name)
    return bool(folder) and any(place.is_file() for place in sources.each(*inside))
