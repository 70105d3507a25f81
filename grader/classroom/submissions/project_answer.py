"""The answer that a folder of somebody's holds: its files, as far as they are a person's work."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from grader.classroom.submissions.decode import text
from grader.classroom.submissions.io import archives
from grader.classroom.submissions.io.folders import FOLDER, Folder, Refused, why
from grader.core.packed import packed
from grader.course import project
from grader.course.catalog import Catalog

_MOST_DEPTH = 8

MOST_NAME = 255
"""Bytes of a name, on any disk; an archive knows no such limit."""

Content = Callable[[Folder, str, int], bytes]
"""Reads a file of a folder, of at most so many bytes."""


def limits(usual: archives.ArchiveLimits, catalog: Catalog) -> archives.ArchiveLimits:
    """What an archive may cost: where there are projects, any file of a tarball may be a part of one."""
    is_needed = any(exercise.is_project for exercise in catalog.exercises)
    return replace(usual, kept=project.MOST_BYTES) if is_needed else usual


def read(home: Folder, content: Content, left_out: list[str]) -> bytes:
    """The answer in a folder, as it is judged; notes what is not read, and why.

    A folder that holds nothing but another one was unpacked into it.

    Raises:
        Refused: it holds more than any answer would, no Python file, or one that cannot be read.
    """
    kinds = {name: kind for name, kind in home.kinds().items() if project.counts(name, at_top=True)}
    if [*kinds.values()] == [FOLDER]:
        with home.entered(*kinds) as inner:
            return read(inner, content, left_out)
    found: dict[str, bytes] = {}
    _gather(home, "", content, found, left_out)
    if not any(path.endswith(".py") for path in found):
        raise Refused("holds no Python file")
    return packed(found)


def _gather(
    home: Folder, prefix: str, content: Content, found: dict[str, bytes], left_out: list[str]
) -> None:
    for name, kind in home.kinds().items():
        path = f"{prefix}{name}"
        if not project.counts(name, at_top=not prefix):
            continue
        if amiss := _amiss(name, kind):
            left_out.append(f"{path[-MOST_NAME:]} {amiss}")
            continue
        if kind == FOLDER:
            if path.count("/") >= _MOST_DEPTH:
                raise Refused("holds folders that lie too deep; hand in your code alone")
            with home.entered(name) as folder:
                _gather(folder, f"{path}/", content, found, left_out)
            continue
        if len(found) >= project.MOST_FILES:
            raise Refused(f"holds more than {project.MOST_FILES} files; hand in your code alone")
        is_code = PurePosixPath(name).suffix == ".py"
        try:
            held = content(home, name, project.MOST_BYTES)
            found[path] = text(held)[0] if is_code else held
        except Refused as reason:
            if is_code:  # without it the rest would be judged for what nobody wrote
                raise Refused(f"holds {path}, which {why(reason)}") from None
            left_out.append(f"{path} {why(reason)}")
        if sum(map(len, found.values())) > project.MOST_BYTES_IN_ALL:
            raise Refused(f"holds more than {project.MOST_BYTES_IN_ALL >> 20} MiB; hand in your code alone")


def _amiss(name: str, kind: str) -> str:
    """Why nothing of this name can lie where an answer is judged; "" where it can."""
    if not name.isprintable():
        return "has a name that is no text"
    if len(name.encode("utf-8", "surrogatepass")) > MOST_NAME:
        return "has a name that is too long"
    return "is a folder" if kind == FOLDER and name == project.START else ""
