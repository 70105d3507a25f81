"""What a class handed in, where each student hands in a whole repository: a folder or an archive of files.

As in `class_folder`, platforms tell whose it is, and nothing is trusted.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import KataError
from grader.core.progress_bar import Progress, silent
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.roster import NOBODY, Roster
from grader.submissions import platforms
from grader.submissions.class_folder import listed, safe_name, top_of
from grader.submissions.decode import MAX_BYTES
from grader.submissions.io import archives
from grader.submissions.io.folders import Folder, Refused, escaped, why
from grader.submissions.owners import Belonging, expect_no_download, hidden, parts_in, unwrapped, whose
from grader.submissions.platforms import Origin
from grader.submissions.repository import Reading, Tree, Wanted, is_repository

_NOTHING = Catalog(())
_CLASS = archives.Limits(**{**vars(archives.CLASS), "kept": MAX_BYTES})


@dataclass(frozen=True)
class Trees:
    """A class's, by student. `notes` tells what is no student's; `is_one`, that one student was named."""

    students: tuple[Tree, ...]
    notes: tuple[str, ...] = ()
    is_one: bool = False


def collect(folder: Path, wanted: Wanted, progress: Progress = silent, roster: Roster = NOBODY) -> Trees:
    """Read what a class handed in, or one student.

    Raises:
        KataError: the folder or archive cannot be read, or holds nobody's work.
    """
    shown = escaped(paths.shown(folder))
    try:
        with _opened(folder) as top:
            return _class(top, folder.absolute(), shown, wanted, progress, roster)
    except (Refused, OSError) as refused:
        raise KataError(
            f"submissions in {shown} {why(refused)}; name a folder that holds one folder per student"
        ) from None


def alone(folder: Path, wanted: Wanted) -> Tree:
    """Read a folder or an archive as one repository, called as it is.

    Raises:
        KataError: it cannot be read.
    """
    reading = Reading(wanted)
    try:
        with _opened(folder) as top:
            reading.read(top)
    except (Refused, OSError) as refused:
        raise KataError(f"{escaped(paths.shown(folder))} {why(refused)}; name a folder") from None
    return reading.tree(folder.name, ())


@contextmanager
def _opened(folder: Path) -> Iterator[Folder]:
    if archives.is_archive(folder.name) and folder.is_file():
        with folder.open("rb") as file, archives.opened(file, _CLASS) as top:
            yield top
    else:
        with top_of(folder) as top:
            yield top


def _class(top: Folder, place: Path, shown: str, wanted: Wanted, progress: Progress, roster: Roster) -> Trees:
    origin = whose(place)
    if origin.platform or is_repository(top, wanted):
        return _one(top, origin, shown, wanted, roster)
    if platforms.is_course({*top.kinds()}):
        with top.entered(platforms.SUBMITTED) as inner:
            return _class(inner, place / platforms.SUBMITTED, shown, wanted, progress, roster)
    strays = list(getattr(top, "oddities", ()))
    with ExitStack() as stack:
        if isinstance(top, archives.Unpacked):
            inside, parent = unwrapped(top, archives.stem(place.name), _NOTHING, stack)
        else:
            inside, parent = top, place.name
            expect_no_download(top, shown)
        if is_repository(inside, wanted):
            return _one(inside, origin, shown, wanted, roster)
        held: dict[str, list[Belonging]] = {}
        for part in parts_in(inside, parent, strays):
            held.setdefault(roster.id_of(safe_name(part.origin.student)), []).append(part)
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


def _one(top: Folder, origin: Origin, shown: str, wanted: Wanted, roster: Roster) -> Trees:
    student = roster.id_of(safe_name(origin.student))
    found = Reading(wanted)
    found.read(top)
    told = f"{shown} is one student's work; graded as {student}"
    return Trees((found.tree(student, [origin.late]),), (told,), is_one=True)


def _student(student: str, parts: Sequence[Belonging], wanted: Wanted) -> Tree:
    """What is newest counts; a part without a repository is told of, and the next one is tried."""
    reading = Reading(wanted)
    for part in sorted(parts, key=_newest):
        reading.part(part)
    return reading.tree(student, [part.origin.late for part in parts])


def _newest(part: Belonging) -> tuple[int, int, str]:
    return (-part.origin.upload, -platforms.original(part.name)[1], part.name)
