"""What in a class's folder or archive is whose."""

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePath

from grader.classroom.submissions import platforms
from grader.classroom.submissions.file_kinds import CLONE, FOREIGN, quiet
from grader.classroom.submissions.io import archives
from grader.classroom.submissions.io.folders import FILE, FOLDER, LINK, Folder, Refused, escaped
from grader.classroom.submissions.io.patience import in_time
from grader.classroom.submissions.platforms import Origin
from grader.core.errors import KataError
from grader.course.catalog import Catalog, unnumbered
from grader.course.exercise import STEPS
from grader.course.roster import Roster

_TOOLS = frozenset({".git", ".github", ".idea", ".ipynb_checkpoints", ".venv", ".vscode"})
_MAX_NAME = 160
"""Bytes of a student's name, which becomes a file's."""


@dataclass(frozen=True)
class Belonging:
    """Something of a student's: a folder, an archive or a file, in a folder of the class.

    It is `timed` where nbgrader keeps the times: what it did not put there, a student could have written.
    """

    home: Folder
    name: str
    kind: str
    origin: Origin
    timed: bool = False


def is_timed(origin: Origin, parent: str) -> bool:
    """Whether nbgrader collected it, and wrote the time of each assignment into it."""
    return parent == platforms.SUBMITTED and not origin.platform


def visible(folder: Folder) -> dict[str, str]:
    """The entries of a folder, without what systems and editors leave."""
    return {n: k for n, k in folder.kinds().items() if not n.startswith(".") and n not in FOREIGN}


def hidden(folder: Folder) -> list[str]:
    """What could be students' work, were its names not hidden ones that no system or editor leaves."""
    return [
        name
        for name, kind in folder.kinds().items()
        if name.startswith(".") and not name.startswith(("._", ".Trash")) and name not in _TOOLS
        if kind in (FOLDER, LINK) or archives.is_archive(name)
    ]


def is_work(kinds: Mapping[str, str], catalog: Catalog) -> bool:
    """Whether one student's work looks so: a section, a clone's folder, or nothing but answers and steps."""
    if homes(catalog) & {*kinds}:
        return True
    folders = {exercise.name for exercise in catalog.exercises if exercise.is_project} | {STEPS}
    names = {exercise.name for exercise in catalog.exercises} | {STEPS}
    found = {unnumbered(name): kind for name, kind in kinds.items()}
    return bool(names & found.keys()) and all(k == FILE or name in folders for name, k in found.items())


def homes(catalog: Catalog) -> frozenset[str]:
    """The names of the folders in which answers lie."""
    sections = (one.name for one in (*catalog.sections, *catalog.assignments))
    return frozenset({CLONE, *sections})


def whose(place: Path) -> Origin:
    """Whose it is, if what lies there is one student's."""
    of = platforms.of_archive if archives.is_archive(place.name) else platforms.of_folder
    return of(place.name, place.parent.name)


def student_of(origin: Origin, roster: Roster) -> str:
    """What results call whose it is: as the roster does, else as the platform."""
    known = roster.find(origin.student) or roster.find(safe_name(origin.student))
    return known.id if known else safe_name(origin.student)


def safe_name(student: str) -> str:
    """A name that can be a file's: printable, and short enough with a digest for what was left out."""
    name = escaped(unicodedata.normalize("NFC", student))
    if len(name.encode("utf-8", "replace")) <= _MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
    return name.encode("utf-8", "replace")[: _MAX_NAME - 16].decode("utf-8", "ignore") + f"...{digest}"


def unwrapped(top: Folder, place: Path, catalog: Catalog, stack: ExitStack) -> tuple[Folder, str]:
    """Where a class lies, with its name; of an archive, the one folder that it may wrap the class in."""
    if not isinstance(top, archives.Unpacked):
        return top, place.name
    kinds, parent = visible(top), archives.stem(place.name)
    if [*kinds.values()] == [FOLDER]:
        (name,) = kinds
        inner = stack.enter_context(top.entered(name))
        if not platforms.of_folder(name, parent).platform and not is_work(visible(inner), catalog):
            return inner, name
    return top, parent


def expect_no_download(folder: Folder, shown: str) -> None:
    """A platform's download is to be named itself: in a folder, an archive is a student's, whatever is in it.

    Otherwise a student's archive could hand in for classmates.
    """
    name, *others = [*(name for name in visible(folder) if not quiet(name)), ""]
    is_zip = len(others) == 1 and name.lower().endswith(".zip") and not platforms.of_file(name)
    if isinstance(folder, archives.Unpacked) or not is_zip:
        return
    try:
        with in_time(), folder.stream(name) as stream, archives.opened(stream, archives.CLASS) as within:
            is_download = is_class(within)
    except (Refused, OSError):
        return  # told once it is read as a student's
    if is_download:
        raise KataError(f"{shown} holds a whole class in one archive; name that: {shown}/{escaped(name)}")


def is_class(folder: Folder) -> bool:
    """Whether a platform has put a class's work into it."""
    return any(platforms.of_file(n) or platforms.of_folder(n, "").platform for n in folder.kinds())


def parts_in(folder: Folder, parent: str, strays: list[str]) -> Iterator[Belonging]:
    """What belongs to students in a folder or archive of the class."""
    for name, kind in visible(folder).items():
        if kind in (FOLDER, LINK):  # a linked folder is still somebody's, who is told why nothing was read
            of = platforms.of_archive if kind == LINK and archives.is_archive(name) else platforms.of_folder
            origin = of(name, parent)
            yield Belonging(folder, name, kind, origin, is_timed(origin, parent))
        elif kind == FILE and (known := platforms.of_file(name)):
            yield Belonging(folder, name, kind, known)
        elif kind == FILE and archives.is_archive(name):
            yield Belonging(folder, name, kind, platforms.of_archive(name, parent))
        elif not quiet(name):
            strays.append(name)


def enrolled(folder: Folder, strays: list[str], roster: Roster) -> list[Belonging]:
    """The files among what is nobody's that are called after somebody in the roster; these are no strays."""
    kinds = folder.kinds()
    names = {name: PurePath(name).stem for name in strays if kinds.get(name) == FILE}
    found = {name: student for name, student in names.items() if roster.find(student)}
    strays[:] = [name for name in strays if name not in found]
    return [Belonging(folder, name, FILE, Origin(student, name)) for name, student in found.items()]
