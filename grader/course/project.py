"""An answer of many files: a folder, which travels as one run of bytes (`grader.core.packed`).

Its `__init__.py` holds the statement, and `data` the author's data, which are no part of an answer. Neither
is what tools leave, what is hidden or linked, and any file that is too large to be somebody's own work.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from grader.core.packed import packed, unpacked

START = "__init__.py"
"""The file with the statement; what makes the folder a package."""

DATA = "data"
"""The author's folder in the folder: read by everybody, handed in by nobody."""

MOST_BYTES = 1 << 20
"""Of one file: what is larger, such as a checkpoint, is left out."""

MOST_FILES = 200
MOST_BYTES_IN_ALL = 16 << 20

_LEFT_OUT = ("__pycache__", "venv", "node_modules")


def counts(name: str, *, at_top: bool) -> bool:
    """Whether a file or folder of this name may be a part of an answer."""
    return not (
        name.startswith(".") or name in _LEFT_OUT or name.endswith(".pyc") or (at_top and name == DATA)
    )


def is_part(path: str) -> bool:
    """Whether what lies at this path in the folder is a part of the answer, unless it is too large."""
    return all(counts(name, at_top=place == 0) for place, name in enumerate(path.split("/")))


def content(folder: Path) -> bytes:
    """The answer in a folder.

    Raises:
        OSError: there is no such folder, or a file in it cannot be read.
    """
    own = (file for file in _files(folder, at_top=True) if file.stat().st_size <= MOST_BYTES)
    return packed({file.relative_to(folder).as_posix(): file.read_bytes() for file in own})


def files(folder: Path) -> list[Path]:
    """All files in a folder, sorted; none where it is not there."""
    return list(_files(folder)) if folder.is_dir() else []


def _files(folder: Path, *, at_top: bool = False) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if not counts(entry.name, at_top=at_top) or entry.is_symlink():
            continue
        if entry.is_dir():
            yield from _files(entry)
        elif entry.is_file():
            yield entry


def plain(answer: bytes) -> bytes:
    """What of an answer's files no editor and no git changes, for a digest."""
    lines = []
    for path, held in sorted(unpacked(answer).items()):
        lines += [path.encode("utf-8", "surrogateescape"), held.replace(b"\r\n", b"\n").strip()]
    return b"\n".join(lines)


def text(answer: bytes) -> str:
    """The Python files of an answer one after another, each below its name."""
    files = unpacked(answer)
    sources = sorted((path for path in files if path.endswith(".py")), key=lambda path: (path != START, path))
    return "\n".join(f"# {path}\n{files[path].decode('utf-8', 'replace')}" for path in sources)


def changed(answer: bytes, change: Callable[[str], str]) -> bytes:
    """The answer with each of its Python files changed."""
    files = unpacked(answer)
    sources = {path for path in files if path.endswith(".py")}
    return packed({p: change(c.decode("utf-8")).encode() if p in sources else c for p, c in files.items()})
