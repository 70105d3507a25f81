"""What a class handed in: a folder or an archive with something of every student's.

`<student>/<section>/<exercise>.py` mirrors `exercises/`. A student's part may as well be a clone, an archive,
loose files or notebooks, named as Canvas, Moodle, GitHub Classroom or nbgrader name them: `platforms` tells
whose it is, `student` what answers which exercise. The files are other people's.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from grader.classroom.submissions import platforms, project_answer
from grader.classroom.submissions.decode import MAX_BYTES
from grader.classroom.submissions.io import archives
from grader.classroom.submissions.io.folders import FOLDER, LINK, Directory, Folder, Refused, escaped, why
from grader.classroom.submissions.owners import (
    Belonging,
    enrolled,
    expect_no_download,
    hidden,
    homes,
    is_class,
    is_timed,
    is_work,
    parts_in,
    student_of,
    unwrapped,
    visible,
    whose,
)
from grader.classroom.submissions.several import by_name, joined
from grader.classroom.submissions.student import Homework
from grader.classroom.submissions.submission import Submission, is_late
from grader.core.errors import KataError
from grader.core.progress_bar import Progress, silent
from grader.course import paths, sources
from grader.course.catalog import Catalog
from grader.course.exercise import STEPS
from grader.course.roster import NOBODY, Roster

__all__ = ["MAX_BYTES", "Classwork", "Submission", "collect", "escaped"]

MAX_NAMED = 10


@dataclass(frozen=True)
class Classwork:
    """A class's submissions, sorted by student. `notes` tells what in the folder is no student's.

    `is_one` tells that not a class but one student's work was named.
    """

    submissions: tuple[Submission, ...]
    notes: tuple[str, ...] = ()
    is_one: bool = False


def collect(
    folder: Path, catalog: Catalog, progress: Progress = silent, roster: Roster = NOBODY
) -> Classwork:
    """Read what a class handed in: a folder or an archive with something of every student's.

    One student's folder or archive may be named as well. In a folder of a clone and beside it, the first
    answer to an exercise counts; of files that a platform numbered, the newest. Who is in the roster is
    called as it says, under however many names something lies there.
    """
    shown = escaped(paths.shown(folder))
    if folder.resolve() in (*sources.each(), *sources.each("exercises")):
        raise KataError(f"{shown} is this clone itself; name a folder that holds one folder per student")
    try:
        with top_of(folder, project_answer.limits(archives.CLASS, catalog)) as top:
            place = folder.absolute() if folder.name not in ("", "..") else folder.resolve()
            return _class(top, place, shown, catalog, progress, roster)
    except Refused as refused:
        raise KataError(
            f"{shown} {why(refused)}; name another archive, or the folder it unpacks to"
        ) from None
    except OSError as refused:
        raise KataError(
            f"submissions in {shown} {why(refused)}; name a folder that holds one folder per student"
        ) from None


@contextmanager
def top_of(folder: Path, limits: archives.ArchiveLimits = archives.CLASS) -> Iterator[Folder]:
    """A folder, or what an archive holds, to read from."""
    if archives.is_archive(folder.name) and folder.is_file():
        with folder.open("rb") as file, archives.opened(file, limits) as top:
            yield top
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Directory(handle)
    finally:
        os.close(handle)


def _class(
    top: Folder, place: Path, shown: str, catalog: Catalog, progress: Progress, roster: Roster
) -> Classwork:
    kinds = visible(top)
    origin = whose(place)
    if origin.platform or is_work(kinds, catalog) or is_timed(origin, place.parent.name):
        return _alone(top, place, shown, catalog, roster)
    if platforms.is_course({*kinds}):
        with top.entered(platforms.SUBMITTED) as inner:
            return _class(inner, place / platforms.SUBMITTED, shown, catalog, progress, roster)
    strays = list(getattr(top, "oddities", ()))
    with ExitStack() as stack:
        inside, parent = unwrapped(top, place, catalog, stack)
        expect_no_download(top, shown)
        students: dict[str, list[Belonging]] = {}
        for part in (*parts_in(inside, parent, strays), *enrolled(inside, strays, roster)):
            students.setdefault(student_of(part.origin, roster), []).append(part)
        found: list[Submission] = []
        for name in sorted(students):
            progress(len(found), len(students))
            found.append(_submission(name, students[name], catalog))
        unread = listed("begins with a dot, not read", hidden(inside))
    if not found:
        told = f" ({unread[0]})" if unread else ""
        raise KataError(
            f"{shown} holds no student's folder{told}; answers lie in <student>/<section>/<exercise>.py"
        )
    notes = listed("no student's folder, ignored", strays) + unread
    if len(found) == 1 and isinstance(inside, archives.Unpacked):
        notes += (f"{shown} holds one student: {found[0].student}",)
    return Classwork(tuple(found), notes)


def _alone(top: Folder, place: Path, shown: str, catalog: Catalog, roster: Roster) -> Classwork:
    """One student, named by the folder around all sections."""
    if isinstance(top, archives.Unpacked) and is_class(top):
        raise KataError(
            f"{shown} is named like one student's upload and holds a whole class; if it is your download of "
            "the class, rename it to submissions.zip"
        )
    while place.name in {STEPS, *homes(catalog)}:
        place = place.parent
    origin = whose(place)
    student = student_of(origin, roster)
    work = Homework(catalog)
    with work.in_time():
        if isinstance(top, archives.Unpacked):
            work.left_out(top, place.name)
        work.read(top, timed=is_timed(origin, place.parent.name))
    told = f"{shown} is one student's work; graded as {student}"
    return Classwork((_finished(student, work, [origin.late], catalog),), (told,), is_one=True)


def _submission(student: str, parts: Sequence[Belonging], catalog: Catalog) -> Submission:
    """What one student handed in, under however many names."""
    found = by_name(parts, partial(_read, student, catalog))
    return found[0].work if len(found) == 1 else joined(student, found, catalog)


def _read(student: str, catalog: Catalog, parts: Sequence[Belonging]) -> Submission:
    work = Homework(catalog)
    with work.in_time():
        for part in sorted(parts, key=lambda part: _rank(part, work)):
            own = part.origin.own or part.name
            if part.kind in (FOLDER, LINK):
                read = partial(work.read, timed=part.timed)
                work.enter(part.name, part.home, "the student's folder", work.whole, read)
            elif exercise := work.names.exercise(part.name):
                work.answer(part.name, part.home, own, exercise)
            elif archives.is_notebook(own):
                work.notebook(part.name, part.home, own)
            elif archives.is_archive(own):
                work.archive(part.name, part.home, own)
            else:
                work.other(part.name, part.home, own)
    return _finished(student, work, [part.origin.late for part in parts], catalog)


def _rank(part: Belonging, work: Homework) -> tuple[int, int, int, str]:
    """Folders, answers, notebooks, archives; of each the newest first."""
    own = part.origin.own or part.name
    kinds = (part.kind in (FOLDER, LINK), work.names.exercise(part.name), archives.is_notebook(own), True)
    first = next(rank for rank, is_kind in enumerate(kinds) if is_kind)
    return (first, -part.origin.upload, -platforms.original(own)[1], part.name)


def _finished(student: str, work: Homework, late: Sequence[bool | None], catalog: Catalog) -> Submission:
    work.finish()
    notes = [
        *listed("not read", work.refused),
        *listed("read", work.guessed),
        *listed("no exercise's file, ignored", work.unknown),
    ]
    found = work.found
    if not found.answers and not found.problems and not found.kept:
        notes.insert(0, "holds no answers; they lie in <section>/<exercise>.py")
    known = found.answers, found.problems, tuple(notes), work.times, is_late(late)
    submission = Submission(student, *known, frozenset(found.kept), found.doubtful)
    if not submission.late:
        return submission
    names = dict.fromkeys(e.assignment for e in catalog.exercises if e.slug in submission.meant)
    told = f"handed in late: {', '.join(names)}" if names else "handed in late"
    return replace(submission, notes=(*submission.notes, told))


def listed(what: str, names: list[str]) -> tuple[str, ...]:
    """One note, or none, that names the first few."""
    if not names:
        return ()
    told = [escaped(name) for name in names[:MAX_NAMED]]
    if len(names) > MAX_NAMED:
        told.append(f"and {len(names) - MAX_NAMED} more")
    return (f"{what}: {'; '.join(told)}",)
