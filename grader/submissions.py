"""Read what a class handed in. The files are other people's: no link is followed, no pipe opened."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from grader import paths
from grader.catalog import Catalog, Exercise
from grader.errors import KataError

MAX_BYTES = 1 << 20
MAX_NAMED = 10

_FILE, _FOLDER, _LINK = "a file", "a folder", "a link, which is not followed"
_KINDS = {
    stat.S_IFREG: _FILE,
    stat.S_IFDIR: _FOLDER,
    stat.S_IFLNK: _LINK,
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_CLONE = "exercises"
"""A student may hand in a whole clone; the answers then lie in this folder of it."""


@dataclass(frozen=True)
class Submission:
    """One student's answers, by slug in no particular order.

    A file that is there but cannot be judged is in `problems`, with the reason; an exercise in
    neither was not handed in. `student` is the folder's name, with what cannot be printed
    written as an escape: it is safe in a file name, in JSON and on a terminal.
    """

    student: str
    answers: Mapping[str, bytes] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Classwork:
    """A class's submissions, sorted by student. `notes` tells what in the folder is no student's."""

    submissions: tuple[Submission, ...]
    notes: tuple[str, ...] = ()


def collect(folder: Path, catalog: Catalog) -> Classwork:
    """Read `folder/<student>/<section>/<stem>.py` of every student.

    A clone's `<student>/exercises/<section>/<stem>.py` is read as well; where a student has
    both, the first counts.
    """
    shown = escaped(paths.shown(folder))
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return _class(top, shown, catalog)
        finally:
            os.close(top)
    except OSError as refused:
        raise KataError(
            f"submissions in {shown} {_why(refused)}; name a folder that holds one folder per student"
        ) from None


def _class(top: int, shown: str, catalog: Catalog) -> Classwork:
    names = [name for name in sorted(os.listdir(top)) if not name.startswith(".") and name != "__pycache__"]
    inside = {_CLONE, *(section.name for section in catalog.sections)} & {*names}
    if inside:
        raise KataError(
            f"{shown} holds {min(inside)}/, so it is one student's work; name the folder above it"
        )
    # A linked folder is still somebody's: its student appears, with the reason why nothing was read.
    students = [name for name in names if _kind(name, top) in (_FOLDER, _LINK)]
    if not students:
        raise KataError(
            f"{shown} holds no student's folder; answers lie in <student>/<section>/<exercise>.py"
        )
    strays = [name for name in names if name not in students and not _quiet(name)]
    submissions = tuple(_submission(name, top, catalog) for name in students)
    return Classwork(submissions, _listed("no student's folder, ignored", strays))


def escaped(name: str) -> str:
    """`name` with control characters, undecodable bytes and backslashes written as escapes.

    Two names never become the same one, which is why backslashes are escaped too.
    """
    return "".join(c if c.isprintable() and c != "\\" else c.encode("unicode_escape").decode() for c in name)


class _Refused(Exception):
    """A file or folder that is not read, and why."""


class _Reader:
    """Gathers one student's answers."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.answers: dict[str, bytes] = {}
        self.problems: dict[str, str] = {}
        self.refused: list[str] = []
        self.unknown: list[str] = []

    def sections(self, home: int, prefix: str) -> None:
        """The sections in a student's folder, then those in its `exercises/`."""
        names = sorted(os.listdir(home))
        for section in self.catalog.sections:
            if section.name in names:
                read = partial(self.section, prefix=f"{prefix}{section.name}/", exercises=section.exercises)
                self.enter(section.name, home, prefix + section.name, section.exercises, read)
        # What lies at the top of our own tree comes with every clone, and is no news.
        expected = {section.name for section in self.catalog.sections}
        expected |= {name for name in names if prefix == "" and (paths.ROOT / name).exists()}
        self.unknown += [prefix + name for name in names if name not in expected and not _quiet(name)]
        if prefix == "" and _CLONE in names:
            read = partial(self.sections, prefix=f"{_CLONE}/")
            self.enter(_CLONE, home, _CLONE, self.catalog.exercises, read)

    def section(self, folder: int, prefix: str, exercises: tuple[Exercise, ...]) -> None:
        files = {f"{exercise.stem}.py": exercise for exercise in exercises}
        for name in sorted(os.listdir(folder)):
            exercise = files.get(name)
            if exercise is None:
                self.unknown += [] if _quiet(name) else [prefix + name]
            elif exercise.slug in self.answers or exercise.slug in self.problems:
                self.refused.append(f"{prefix}{name} is a second answer")
            else:
                try:
                    self.answers[exercise.slug] = _content(name, folder)
                except (_Refused, OSError) as why:
                    self.refuse(prefix + name, why, (exercise,))

    def enter(
        self,
        name: str,
        parent: int,
        where: str,
        exercises: tuple[Exercise, ...],
        read: Callable[[int], None],
    ) -> None:
        """Read a folder; where that is refused, so are the exercises in it."""
        try:
            with _opened(name, parent, _FOLDER) as handle:
                read(handle)
        except (_Refused, OSError) as why:
            self.refuse(where, why, exercises)

    def refuse(self, where: str, why: _Refused | OSError, exercises: tuple[Exercise, ...]) -> None:
        reason = _why(why) if isinstance(why, OSError) else str(why)
        self.refused.append(f"{where} {reason}")
        for exercise in exercises:
            if exercise.slug not in self.answers:
                self.problems.setdefault(exercise.slug, f"{escaped(where)} {reason}")


def _submission(name: str, top: int, catalog: Catalog) -> Submission:
    reader = _Reader(catalog)
    reader.enter(name, top, "the student's folder", catalog.exercises, partial(reader.sections, prefix=""))
    notes = [*_listed("not read", reader.refused), *_listed("no exercise's file, ignored", reader.unknown)]
    if not reader.answers and not reader.problems:
        notes.insert(0, "holds no answers; they lie in <section>/<exercise>.py")
    return Submission(escaped(name), reader.answers, reader.problems, tuple(notes))


def _content(name: str, folder: int) -> bytes:
    with _opened(name, folder, _FILE) as handle, os.fdopen(handle, "rb", closefd=False) as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise _Refused("is larger than 1 MiB")
    if b"\0" in content:
        raise _Refused("holds null bytes")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        raise _Refused("is not UTF-8; save it as UTF-8 text") from None
    return content


@contextmanager
def _opened(name: str, parent: int, wanted: str) -> Iterator[int]:
    """Open one entry of a folder if it is of the wanted kind.

    It is looked at first, since opening a device can already do something, and again once open,
    in case it was exchanged in between.
    """
    kind = _kind(name, parent)
    if kind != wanted:
        raise _Refused(f"is {kind}")
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    try:
        if _KINDS[stat.S_IFMT(os.fstat(handle).st_mode)] != wanted:
            raise _Refused("changed while it was read")
        yield handle
    finally:
        os.close(handle)


def _kind(name: str, parent: int) -> str:
    return _KINDS[stat.S_IFMT(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)]


def _why(refused: OSError) -> str:
    return f"cannot be read ({refused.strerror})"


def _quiet(name: str) -> bool:
    """Names that come along without anybody meaning anything by it."""
    return name.startswith((".", "README", "LICENSE")) or name in ("__pycache__", "__init__.py")


def _listed(what: str, names: list[str]) -> tuple[str, ...]:
    """One note, or none, that names the first few."""
    if not names:
        return ()
    told = [escaped(name) for name in names[:MAX_NAMED]]
    if len(names) > MAX_NAMED:
        told.append(f"and {len(names) - MAX_NAMED} more")
    return (f"{what}: {'; '.join(told)}",)
