"""Whose work lies in a class's folder or archive, by the names there alone: nothing of it is read."""

from contextlib import ExitStack
from pathlib import Path

from grader.classroom.submissions import platforms
from grader.classroom.submissions.class_folder import top_of
from grader.classroom.submissions.io.folders import Folder, Refused, escaped, why
from grader.classroom.submissions.owners import is_work, parts_in, unwrapped, visible, whose
from grader.classroom.submissions.platforms import Origin
from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Catalog


def origins(folder: Path, catalog: Catalog) -> list[Origin]:
    """Of everything that is somebody's, whose it is; of one student's work, its own.

    Raises:
        KataError: it cannot be read.
    """
    place = folder.absolute()
    try:
        with top_of(folder) as top, ExitStack() as stack:
            return _origins(top, place, catalog, stack)
    except (Refused, OSError) as refused:
        shown = escaped(paths.shown(folder))
        raise KataError(f"{shown} {why(refused)}; name what your platform gave you") from None


def _origins(top: Folder, place: Path, catalog: Catalog, stack: ExitStack) -> list[Origin]:
    kinds = visible(top)
    if whose(place).platform or is_work(kinds, catalog):
        return [whose(place)]
    if platforms.is_course({*kinds}):
        inner = stack.enter_context(top.entered(platforms.SUBMITTED))
        return _origins(inner, place / platforms.SUBMITTED, catalog, stack)
    inside, parent = unwrapped(top, place, catalog, stack)
    return [part.origin for part in parts_in(inside, parent, [])]
