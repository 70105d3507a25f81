"""One student's repository: where it lies in what was handed in, and the files in it.

Nothing is trusted: no link is followed, and what is large is not read. The repository may lie in a folder or
an archive in what the student handed in, or be a few loose files of it.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from grader.classroom.submissions import landmarks, platforms
from grader.classroom.submissions.class_folder import listed
from grader.classroom.submissions.decode import MAX_BYTES, text
from grader.classroom.submissions.file_kinds import FOREIGN
from grader.classroom.submissions.io import archives
from grader.classroom.submissions.io.folders import FILE, FOLDER, LINK, Folder, Refused, escaped, short, why
from grader.classroom.submissions.io.patience import in_time
from grader.classroom.submissions.landmarks import Place
from grader.classroom.submissions.owners import Belonging
from grader.classroom.submissions.submission import is_late

_MOST_FILES = 5000
_MOST_READ = 64 << 20
_MAX_DEPTH = 16
_MAX_NESTED = 3
_LONGEST_NAME, _LONGEST_PATH = 255, 1000
"""Bytes: what Linux allows of a name, and leaves room for of a path."""
_ONE = archives.ArchiveLimits(**{**vars(archives.ONE), "kept": MAX_BYTES})


@dataclass(frozen=True)
class Tree:
    """One student's files, by their paths from the repository's top; None where there is no repository.

    In `doubt` stands why a person has to say which files count.
    """

    student: str
    files: Mapping[str, bytes] | None
    notes: tuple[str, ...] = ()
    late: bool | None = None
    doubt: str = ""


@dataclass(frozen=True)
class Landmarks:
    """What makes a repository: one of the `landmarks` lies in it; the first that is anywhere tells where.

    Else one of the files that students are to `write` tells, which may lie elsewhere or be called nearly so;
    else all that was handed in is a repository, unless one is `needed`. `counts` says whether a path in it is
    read.
    """

    landmarks: Sequence[str]
    counts: Callable[[str], bool]
    write: Sequence[str] = ()
    is_needed: bool = True


def is_repository(top: Folder, wanted: Landmarks) -> bool:
    """Whether a landmark lies just there: a class's folder has it below each student's."""
    first = wanted.landmarks[0]
    kinds = dict(_names(top, "", first.count("/")))
    if not wanted.is_needed and sum(name in kinds for name in wanted.landmarks) > 1:
        return True
    is_plain = FOLDER not in kinds.values() and not any(map(archives.is_archive, kinds))
    return first in kinds or (is_plain and any(path.rpartition("/")[2] in kinds for path in wanted.write))


class Reading:
    """Looks for a student's repository in one place after another; the first that there is counts."""

    def __init__(self, wanted: Landmarks) -> None:
        self._wanted = wanted
        self._files: dict[str, bytes] | None = None
        self._loose: dict[str, bytes] = {}
        self._refused: list[str] = []
        self._guessed: list[str] = []
        self._doubt = ""
        self._left = _MOST_READ

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Around all reading: what is not read in time is no repository, since a part of one is another."""
        try:
            with in_time():
                yield
        except Refused as reason:
            self._files, self._loose = None, {}
            self._refused.append(f"the hand-in {why(reason)}")

    def tree(self, student: str, late: Sequence[bool | None]) -> Tree:
        """What was found, with notes of what was not read, or was read as something else."""
        self._read_loose()
        notes = listed("read", self._guessed) + listed("not read", self._refused)
        notes += ("handed in late",) if any(late) else ()
        return Tree(student, self._files, notes, is_late(late), self._doubt)

    def part(self, part: Belonging) -> None:
        """Look in something of the student's."""
        own = part.origin.own or part.name
        try:
            if self._files is not None and not own.endswith(".py"):
                self._refused.append(f"{short(own)} comes beside what was read")
            elif part.kind in (FOLDER, LINK):
                with part.home.entered(part.name) as home:
                    self.read(home)
            elif archives.is_archive(own):
                self._archive(part.home, part.name)
            elif self._wanted.write and own.endswith(".py"):
                self._loose.setdefault(platforms.original(own)[0], part.home.content(part.name, MAX_BYTES))
            else:
                self._refused.append(f"{short(own)} is neither a folder nor an archive")
        except (Refused, OSError) as reason:
            self._refused.append(f"{short(own)} {why(reason)}")

    def read(self, home: Folder, nested: int = 0) -> None:
        """The repository in a folder, or in the archives in it."""
        self._refused += getattr(home, "oddities", ())
        for name, reason in getattr(home, "left_out", ()):
            if name.endswith(".py") and not any(map(_is_tools, name.split("/")[:-1])):
                self._doubt = self._doubt or f"{escaped(short(name))} {reason}"
        kinds = dict(_names(home, "", _MAX_DEPTH))
        held = [path for path in kinds if archives.is_archive(path)] if nested < _MAX_NESTED else []
        place = self._place(kinds, is_alone=not held)
        if place is None:
            for path in held:
                self._archive(home, path, nested)
            place = self._place(kinds, is_alone=True) if held and self._files is None else None
        if place is None:
            return
        self._files = {}
        with ExitStack() as stack:
            for folder in filter(None, place.top.split("/")):
                home = stack.enter_context(home.entered(folder))
            self._gather(home, "", place)

    def _place(self, kinds: Mapping[str, str], is_alone: bool) -> Place | None:
        """Where the repository lies; None where it is not there, or may be in an archive beside."""
        place = landmarks.found(kinds, self._wanted.landmarks)
        if place is None and is_alone:
            place = landmarks.meant(kinds, self._wanted.write)
            place = place or (None if self._wanted.is_needed else Place())
        if place is not None:
            place = landmarks.completed(place, kinds, self._wanted.write)
            self._guessed += place.told()
        return place

    def _path(self, place: Place, path: str) -> str:
        """What a path below the place counts as; what does not belong there counts where it lies."""
        there = place.path(path)
        return path if not self._wanted.counts(there) and self._wanted.counts(path) else there

    def _read_loose(self) -> None:
        """The files that came each by itself, where nothing else holds a repository."""
        if self._files is not None:
            self._refused += (f"{short(name)} lies beside all the rest" for name in self._loose)
        elif self._loose and (place := self._place(dict.fromkeys(self._loose, FILE), is_alone=True)):
            read = {self._path(place, name): content for name, content in self._loose.items()}
            self._files = {path: content for path, content in read.items() if self._wanted.counts(path)}
            for path, content in self._files.items():
                self._expect_python(path, content)
        else:
            self._refused += map(short, self._loose)

    def _archive(self, home: Folder, name: str, nested: int = 0) -> None:
        """Read an archive at this path as the folder that it was, if nothing was read yet."""
        if self._files is not None:
            self._refused.append(f"{short(name)} comes beside what was read")
            return
        *folders, file = name.split("/")
        try:
            with ExitStack() as stack:
                for folder in folders:
                    home = stack.enter_context(home.entered(folder))
                content = stack.enter_context(archives.opened(stack.enter_context(home.stream(file)), _ONE))
                self.read(content, nested + 1)
        except (Refused, OSError) as reason:
            self._refused.append(f"{short(name)} {why(reason)}")

    def _gather(self, home: Folder, below: str, place: Place) -> None:
        assert self._files is not None
        for name, kind in _visible(home):
            path = self._path(place, f"{below}{name}")
            try:
                if kind == FOLDER and path.count("/") < _MAX_DEPTH:
                    with home.entered(name) as folder:
                        self._gather(folder, f"{below}{name}/", place)
                elif self._wanted.counts(path):
                    if self._left <= 0 or len(self._files) >= _MOST_FILES:
                        raise Refused("comes after too much else; hand in your code alone")
                    if len(os.fsencode(name)) > _LONGEST_NAME or len(os.fsencode(path)) > _LONGEST_PATH:
                        raise Refused("has too long a name")
                    self._files[path] = home.content(name, MAX_BYTES)
                    self._left -= len(self._files[path])
                    self._expect_python(path, self._files[path])
            except (Refused, OSError) as reason:
                self._refused.append(f"{short(path)} {why(reason)}")
                if path.endswith(".py") and self._wanted.counts(path):
                    self._doubt = self._doubt or self._refused[-1]

    def _expect_python(self, path: str, content: bytes) -> None:
        """A module that Python cannot read may be the answer all the same: a person is to look."""
        try:
            if path.endswith(".py"):
                text(content)
        except Refused as reason:
            self._doubt = self._doubt or f"{short(path)} {why(reason)}"


def _visible(home: Folder) -> Iterator[tuple[str, str]]:
    """The entries that are somebody's work, not what tools leave."""
    for name, kind in home.kinds().items():
        if not _is_tools(name):
            yield name, kind


def _is_tools(name: str) -> bool:
    return name in FOREIGN or (name.startswith(".") and name != "..")


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
