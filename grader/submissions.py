"""What a class handed in: a folder or an archive with something of every student's.

`<student>/<section>/<exercise>.py` mirrors `exercises/`. A student's part may as well be a clone, an archive,
loose files or notebooks, named as Canvas, Moodle, GitHub Classroom or nbgrader name them: `grader.platforms`
tells whose it is, `grader.homework` what answers which exercise. The files are other people's.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from grader import archives, paths, platforms
from grader.catalog import Catalog
from grader.errors import KataError
from grader.folders import FILE, FOLDER, LINK, Directory, Folder, Refused, escaped, why
from grader.homework import CLONE, FOREIGN, MAX_BYTES, Homework, quiet
from grader.platforms import Origin

__all__ = ["MAX_BYTES", "Classwork", "Submission", "collect", "escaped"]

MAX_NAMED = 10
_MAX_NAME = 160
"""Bytes of a student's name, which becomes a file's."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Submission:
    """One student's answers, by slug in no particular order.

    A file that is there but cannot be judged is in `problems`, with the reason; an exercise in
    neither was not handed in. `student` is the folder's name, with what cannot be printed
    written as an escape: it is safe in a file name, in JSON and on a terminal.

    `times` holds nbgrader's time stamps by section, as they stand in `timestamp.txt`. `late` is what
    a platform tells without a time; None where it tells nothing.
    """

    student: str
    answers: Mapping[str, bytes] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    times: Mapping[str, str] = field(default_factory=dict)
    late: bool | None = None


@dataclass(frozen=True)
class Classwork:
    """A class's submissions, sorted by student. `notes` tells what in the folder is no student's.

    `is_one` tells that not a class but one student's work was named.
    """

    submissions: tuple[Submission, ...]
    notes: tuple[str, ...] = ()
    is_one: bool = False


@dataclass(frozen=True)
class _Part:
    """Something of a student's: a folder, an archive or a file, in a folder of the class.

    It is `timed` where nbgrader keeps the times: what it did not put there, a student could have written.
    """

    home: Folder
    name: str
    kind: str
    origin: Origin
    timed: bool = False


def _is_timed(origin: Origin, parent: str) -> bool:
    return parent == platforms.SUBMITTED and not origin.platform


def collect(folder: Path, catalog: Catalog, progress: Progress = lambda done, total: None) -> Classwork:
    """Read what a class handed in: a folder or an archive with something of every student's.

    One student's folder or archive may be named as well. In a folder of a clone and beside it, the first
    answer to an exercise counts; of files that a platform numbered, the newest.
    """
    shown = escaped(paths.shown(folder))
    if folder.resolve() in (paths.ROOT, paths.EXERCISES):
        raise KataError(f"{shown} is this clone itself; name a folder that holds one folder per student")
    try:
        with _top(folder) as top:
            place = folder.absolute() if folder.name not in ("", "..") else folder.resolve()
            return _class(top, place, shown, catalog, progress)
    except (OSError, Refused) as refused:
        raise KataError(
            f"submissions in {shown} {why(refused)}; name a folder that holds one folder per student"
        ) from None


@contextmanager
def _top(folder: Path) -> Iterator[Folder]:
    if archives.is_archive(folder.name) and folder.is_file():
        with folder.open("rb") as file, archives.opened(file, archives.CLASS) as top:
            yield top
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Directory(handle)
    finally:
        os.close(handle)


def _class(top: Folder, place: Path, shown: str, catalog: Catalog, progress: Progress) -> Classwork:
    kinds = _visible(top)
    if _is_work(kinds, catalog):
        return _alone(top, place, shown, catalog)
    if platforms.is_course({*kinds}):
        with top.entered(platforms.SUBMITTED) as inner:
            return _class(inner, place / platforms.SUBMITTED, shown, catalog, progress)
    strays: list[str] = list(getattr(top, "oddities", ()))
    with ExitStack() as stack:
        students: dict[str, list[_Part]] = {}
        for part in _parts(top, archives.stem(place.name), catalog, strays, stack):
            students.setdefault(_name(part.origin.student), []).append(part)
        found: list[Submission] = []
        for name in sorted(students):
            progress(len(found), len(students))
            found.append(_submission(name, students[name], catalog))
    if not found:
        raise KataError(
            f"{shown} holds no student's folder; answers lie in <student>/<section>/<exercise>.py"
        )
    return Classwork(tuple(found), _listed("no student's folder, ignored", strays))


def _visible(folder: Folder) -> dict[str, str]:
    return {n: k for n, k in folder.kinds().items() if not n.startswith(".") and n not in FOREIGN}


def _is_work(kinds: Mapping[str, str], catalog: Catalog) -> bool:
    """Whether one student's work looks so: a section, a clone's folder, or nothing but answers."""
    if any(section.name in kinds for section in catalog.sections) or CLONE in kinds:
        return True
    files = {f"{exercise.stem}.py" for exercise in catalog.exercises}
    return bool(files & {*kinds}) and all(kind == FILE for kind in kinds.values())


def _alone(top: Folder, place: Path, shown: str, catalog: Catalog) -> Classwork:
    """One student, named by the folder around all sections."""
    while place.name in {CLONE, *(section.name for section in catalog.sections)}:
        place = place.parent
    whose = platforms.of_archive if archives.is_archive(place.name) else platforms.of_folder
    origin = whose(place.name, place.parent.name)
    student = _name(origin.student)
    work = Homework(catalog)
    work.read(top, timed=_is_timed(origin, place.parent.name))
    told = f"{shown} is one student's work; graded as {student}"
    return Classwork((_finished(student, work, [origin.late]),), (told,), is_one=True)


def _parts(
    top: Folder, parent: str, catalog: Catalog, strays: list[str], stack: ExitStack, depth: int = 0
) -> Iterator[_Part]:
    """What is students' in a folder, in the one folder that an archive wraps, or in a platform's zip."""
    kinds = _visible(top)
    (name, kind), *others = [*kinds.items(), ("", "")]
    if isinstance(top, archives.Unpacked) and kind == FOLDER and len(others) == 1 and depth == 0:
        inner = stack.enter_context(top.entered(name))
        if platforms.of_folder(name, parent).student == name and not _is_work(_visible(inner), catalog):
            yield from _parts(inner, name, catalog, strays, stack, depth + 1)
            return
    for name, kind in kinds.items():
        if kind in (FOLDER, LINK):  # a linked folder is still somebody's, who is told why nothing was read
            origin = platforms.of_folder(name, parent)
            yield _Part(top, name, kind, origin, _is_timed(origin, parent))
        elif kind == FILE and (known := platforms.of_file(name)):
            yield _Part(top, name, kind, known)
        elif kind == FILE and archives.is_archive(name):
            if depth < 2 and (within := _class_zip(top, name, stack)) is not None:
                yield from _parts(within, archives.stem(name), catalog, strays, stack, 2)
            else:
                yield _Part(top, name, kind, platforms.of_archive(name, parent))
        elif not quiet(name):
            strays.append(name)


def _class_zip(home: Folder, name: str, stack: ExitStack) -> Folder | None:
    """The zip's content if a platform made it of a whole class's work; None where it is one student's."""
    if not name.lower().endswith(".zip"):
        return None
    with ExitStack() as trying:
        try:
            stream = trying.enter_context(home.stream(name))
            within = trying.enter_context(archives.opened(stream, archives.CLASS))
        except (Refused, OSError):
            return None  # told once it is read as a student's
        if any(platforms.of_file(n) or platforms.of_folder(n, "").platform for n in within.kinds()):
            stack.push(trying.pop_all())
            return within
    return None


def _submission(student: str, parts: Sequence[_Part], catalog: Catalog) -> Submission:
    work = Homework(catalog)
    for part in sorted(parts, key=lambda part: _rank(part, work)):
        own = part.origin.own or part.name
        if part.kind in (FOLDER, LINK):
            read = partial(work.read, timed=part.timed)
            work.enter(part.name, part.home, "the student's folder", catalog.exercises, read)
        elif exercise := work.exercise(part.name):
            work.answer(part.name, part.home, own, exercise)
        elif own.endswith(".ipynb"):
            work.notebook(part.name, part.home, own)
        elif archives.is_archive(own):
            work.archive(part.name, part.home, own)
        else:
            work.unknown.append(own)
    return _finished(student, work, [part.origin.late for part in parts])


def _rank(part: _Part, work: Homework) -> tuple[int, int, int, str]:
    """Folders, answers, notebooks, archives; of each the newest first."""
    own = part.origin.own or part.name
    kinds = (part.kind in (FOLDER, LINK), work.exercise(part.name), own.endswith(".ipynb"), True)
    first = next(rank for rank, is_kind in enumerate(kinds) if is_kind)
    return (first, -part.origin.upload, -platforms.original(own)[1], part.name)


def _finished(student: str, work: Homework, late: Sequence[bool | None]) -> Submission:
    work.finish()
    notes = [*_listed("not read", work.refused), *_listed("no exercise's file, ignored", work.unknown)]
    if not work.answers and not work.problems:
        notes.insert(0, "holds no answers; they lie in <section>/<exercise>.py")
    told = [one for one in late if one is not None]
    is_late = any(told) if told else None
    notes += ["handed in late"] if is_late else []
    return Submission(student, work.answers, work.problems, tuple(notes), work.times, is_late)


def _name(student: str) -> str:
    """A name that can be a file's: printable, and short enough with a digest for what was left out."""
    name = escaped(student)
    if len(name.encode("utf-8", "replace")) <= _MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
    return name.encode("utf-8", "replace")[: _MAX_NAME - 16].decode("utf-8", "ignore") + f"...{digest}"


def _listed(what: str, names: list[str]) -> tuple[str, ...]:
    """One note, or none, that names the first few."""
    if not names:
        return ()
    told = [escaped(name) for name in names[:MAX_NAMED]]
    if len(names) > MAX_NAMED:
        told.append(f"and {len(names) - MAX_NAMED} more")
    return (f"{what}: {'; '.join(told)}",)
