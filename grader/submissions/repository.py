"""One student's repository: where it lies in what was handed in, and the files in it.

Nothing is trusted: no link is followed, and what is large is not read. The repository may lie in a folder or
an archive in what the student handed in.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from grader.submissions.class_folder import listed
from grader.submissions.decode import MAX_BYTES
from grader.submissions.io import archives
from grader.submissions.io.folders import FOLDER, LINK, Folder, Refused, short, why
from grader.submissions.owners import Belonging
from grader.submissions.student import FOREIGN

_MOST_FILES = 5000
_MOST_READ = 64 << 20
_MAX_DEPTH = 16
_LONGEST_NAME, _LONGEST_PATH = 255, 1000
"""Bytes: what Linux allows of a name, and leaves room for of a path."""
_ONE = archives.Limits(**{**vars(archives.ONE), "kept": MAX_BYTES})


@dataclass(frozen=True)
class Tree:
    """One student's files, by their paths from the repository's top; None where there is no repository."""

    student: str
    files: Mapping[str, bytes] | None
    notes: tuple[str, ...] = ()
    late: bool | None = None


@dataclass(frozen=True)
class Wanted:
    """What makes a repository: one of the `landmarks` lies in it; the first that is anywhere tells where.

    Where none need be there, all that was handed in is one. `counts` says whether a path in it is read.
    """

    landmarks: Sequence[str]
    counts: Callable[[str], bool]
    is_needed: bool = True


def is_repository(top: Folder, wanted: Wanted) -> bool:
    """Whether a landmark lies just there: a class's folder has it below each student's."""
    first = wanted.landmarks[0]
    return any(path == first for path, _ in _names(top, "", first.count("/")))


class Reading:
    """Looks for a student's repository in one place after another; the first that there is counts."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._files: dict[str, bytes] | None = None
        self._refused: list[str] = []
        self._left = _MOST_READ

    def tree(self, student: str, late: Sequence[bool | None]) -> Tree:
        """What was found, with notes of what was not read."""
        told = [one for one in late if one is not None]
        notes = listed("not read", self._refused) + (("handed in late",) if any(told) else ())
        return Tree(student, self._files, notes, any(told) if told else None)

    def part(self, part: Belonging) -> None:
        """Look in something of the student's."""
        own = part.origin.own or part.name
        try:
            if part.kind in (FOLDER, LINK):
                with part.home.entered(part.name) as home:
                    self.read(home)
            elif archives.is_archive(own):
                self._archive(part.home, part.name)
            else:
                self._refused.append(f"{short(own)} is neither a folder nor an archive")
        except (Refused, OSError) as reason:
            self._refused.append(f"{short(own)} {why(reason)}")

    def read(self, home: Folder) -> None:
        """The repository in a folder, or in the archives that lie at its top."""
        self._refused += getattr(home, "oddities", ())
        if self._files is not None:
            return
        names = dict(_names(home, "", _MAX_DEPTH))
        loose = [name for name in names if "/" not in name and archives.is_archive(name)]
        tops = (_top(names, landmark) for landmark in self._wanted.landmarks)
        top = next((top for top in tops if top is not None), None)
        if top is None and (self._wanted.is_needed or loose):
            for name in loose:
                self._archive(home, name)
            return
        self._files = {}
        with ExitStack() as stack:
            for folder in filter(None, (top or "").split("/")):
                home = stack.enter_context(home.entered(folder))
            self._gather(home, "")

    def _archive(self, home: Folder, name: str) -> None:
        try:
            with home.stream(name) as stream, archives.opened(stream, _ONE) as content:
                self.read(content)
        except (Refused, OSError) as reason:
            self._refused.append(f"{short(name)} {why(reason)}")

    def _gather(self, home: Folder, prefix: str) -> None:
        assert self._files is not None
        for name, kind in _visible(home):
            path = f"{prefix}{name}"
            try:
                if kind == FOLDER and path.count("/") < _MAX_DEPTH:
                    with home.entered(name) as folder:
                        self._gather(folder, f"{path}/")
                elif self._wanted.counts(path):
                    if self._left <= 0 or len(self._files) >= _MOST_FILES:
                        raise Refused("comes after too much else; hand in your code alone")
                    if len(os.fsencode(name)) > _LONGEST_NAME or len(os.fsencode(path)) > _LONGEST_PATH:
                        raise Refused("has too long a name")
                    self._files[path] = home.content(name, MAX_BYTES)
                    self._left -= len(self._files[path])
            except (Refused, OSError) as reason:
                self._refused.append(f"{short(path)} {why(reason)}")


def _visible(home: Folder) -> Iterator[tuple[str, str]]:
    """The entries that are somebody's work, not what tools leave."""
    for name, kind in home.kinds().items():
        if not name.startswith(".") and name not in FOREIGN:
            yield name, kind


def _names(home: Folder, prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    """The paths of all entries, and what they are, those of a folder before those in it."""
    for name, kind in _visible(home):
        yield f"{prefix}{name}", kind
        if kind == FOLDER and depth > 0:
            try:
                with home.entered(name) as folder:
                    yield from _names(folder, f"{prefix}{name}/", depth - 1)
            except (Refused, OSError):
                continue  # told of when it is read


def _top(names: Mapping[str, str], landmark: str) -> str | None:
    """The folder in which the landmark lies, the least deep one; None where there is none."""
    ends = [path for path in names if f"/{path}".endswith(f"/{landmark}")]
    if not ends:
        return None
    return min(ends, key=lambda path: (path.count("/"), path)).removesuffix(landmark).rstrip("/")
