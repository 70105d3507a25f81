"""What a class handed in, where each student hands in a whole repository: a folder or an archive of files.

As in `class_folder`, platforms tell whose it is, and nothing is trusted.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from grader.classroom.submissions import platforms
from grader.classroom.submissions.class_folder import listed, top_of
from grader.classroom.submissions.decode import MAX_BYTES
from grader.classroom.submissions.io import archives
from grader.classroom.submissions.io.folders import Folder, Refused, escaped, why
from grader.classroom.submissions.owners import (
    Belonging,
    expect_no_download,
    hidden,
    parts_in,
    student_of,
    unwrapped,
    whose,
)
from grader.classroom.submissions.platforms import Origin
from grader.classroom.submissions.repository import Landmarks, Reading, Tree, is_repository
from grader.classroom.submissions.several import by_name, differ, names_of, newest_of
from grader.core.errors import KataError
from grader.core.progress_bar import Progress, silent
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.roster import NOBODY, Roster

_NOTHING = Catalog(())
_CLASS = archives.ArchiveLimits(**{**vars(archives.CLASS), "kept": MAX_BYTES})


@dataclass(frozen=True)
class Trees:
    """A class's, by student. `notes` tells what is no student's; `is_one`, that one student was named."""

    students: tuple[Tree, ...]
    notes: tuple[str, ...] = ()
    is_one: bool = False


def collect(folder: Path, wanted: Landmarks, progress: Progress = silent, roster: Roster = NOBODY) -> Trees:
    """Read what a class handed in, or one student.

    Raises:
        KataError: the folder or archive cannot be read, or holds nobody's work.
    """
    shown = escaped(paths.shown(folder))
    try:
        with top_of(folder, _CLASS) as top:
            return _class(top, folder.absolute(), shown, wanted, progress, roster)
    except (Refused, OSError) as refused:
        raise KataError(
            f"submissions in {shown} {why(refused)}; name a folder that holds one folder per student"
        ) from None


def alone(folder: Path, wanted: Landmarks) -> Tree:
    """Read a folder or an archive as one repository, called as it is.

    Raises:
        KataError: it cannot be read.
    """
    reading = Reading(wanted)
    try:
        with top_of(folder, _CLASS) as top:
            reading.read(top)
    except (Refused, OSError) as refused:
        raise KataError(f"{escaped(paths.shown(folder))} {why(refused)}; name a folder") from None
    return reading.tree(folder.name, ())


def _class(
    top: Folder, place: Path, shown: str, wanted: Landmarks, progress: Progress, roster: Roster
) -> Trees:
    origin = whose(place)
    if origin.platform or is_repository(top, wanted):
        return _one(top, origin, shown, wanted, roster)
    if platforms.is_course({*top.kinds()}):
        with top.entered(platforms.SUBMITTED) as inner:
            return _class(inner, place / platforms.SUBMITTED, shown, wanted, progress, roster)
    strays = list(getattr(top, "oddities", ()))
    with ExitStack() as stack:
        inside, parent = unwrapped(top, place, _NOTHING, stack)
        expect_no_download(top, shown)
        if is_repository(inside, wanted):
            return _one(inside, origin, shown, wanted, roster)
        held: dict[str, list[Belonging]] = {}
        for part in parts_in(inside, parent, strays):
            held.setdefault(student_of(part.origin, roster), []).append(part)
        students = []
        for done, name in enumerate(sorted(held)):
            progress(done, len(held))
            students.append(_student(name, held[name], wanted))
        notes = (
            *listed("no student's folder, ignored", strays),
            *listed("begins with a dot, not read", hidden(inside)),
        )
    if not students:
        raise KataError(f"{shown} holds no student's folder or archive; name the folder that holds them")
    return Trees(tuple(students), notes)


def _one(top: Folder, origin: Origin, shown: str, wanted: Landmarks, roster: Roster) -> Trees:
    student = student_of(origin, roster)
    found = Reading(wanted)
    with found.in_time():
        found.read(top)
    told = f"{shown} is one student's work; graded as {student}"
    return Trees((found.tree(student, [origin.late]),), (told,), is_one=True)


def _student(student: str, parts: Sequence[Belonging], wanted: Landmarks) -> Tree:
    """What one student handed in: of several names the newest, where that is told, else a person says."""
    found = by_name(parts, partial(_read, student, wanted))
    if len(found) == 1:
        return found[0].work
    having = [one for one in found if one.work.files is not None] or found
    is_one = all(one.work.files == having[0].work.files for one in having)
    newest = having[0] if is_one else newest_of(having)
    notes = [names_of(found), *(f"{one.name}: {note}" for one in found for note in one.work.notes)]
    if newest is None:
        return Tree(student, None, tuple(notes), doubt=differ(having))
    notes += [] if is_one else [f"of these, {newest.name} is newer and counts"]
    return replace(newest.work, notes=tuple(notes))


def _read(student: str, wanted: Landmarks, parts: Sequence[Belonging]) -> Tree:
    """What is newest counts; a part without a repository is told of, and the next one is tried."""
    reading = Reading(wanted)
    with reading.in_time():
        for part in sorted(parts, key=_newest):
            reading.part(part)
    return reading.tree(student, [part.origin.late for part in parts])


def _newest(part: Belonging) -> tuple[int, int, str]:
    return (-part.origin.upload, -platforms.original(part.name)[1], part.name)
