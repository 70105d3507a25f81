"""Where a course's exercises come from: its own folder, and the sources that `course.toml` names.

sources = ["torchkata", "../shared-exercises"]   # the torchkata that `kata` belongs to; a folder of a course

Without it a course has its own exercises alone, or torchkata's where it has none.
"""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from grader.core.errors import KataError
from grader.core.toml import said
from grader.course import paths, policy

KEY = "sources"
OURS = "torchkata"


@cache
def roots() -> tuple[Path, ...]:
    """The folders that hold `exercises`, `solutions` and `tests`: the course's own comes first.

    Raises:
        KataError: the course's file names something else.
    """
    if len(paths.named()) > 1:  # in a process of ours, which need not be able to read the file
        return paths.named()
    told = policy.table(paths.COURSE).get(KEY)
    if told is None:
        return (paths.ROOT,)
    where = paths.shown(paths.COURSE / paths.FILE)
    if not isinstance(told, list) or not all(isinstance(one, str) for one in told):
        raise KataError(f'{where}: list the sources of exercises, as sources = ["torchkata", "../ours"]')
    found = [paths.COURSE, *(_source(one, where) for one in told)]
    return tuple(dict.fromkeys(found))  # a source may be the course's own folder


def _source(name: str, where: str) -> Path:
    if (
        not name.isprintable() or os.pathsep in name
    ):  # which stands between the folders in what processes inherit
        raise KataError(
            f"{where}: sources names {said(name)}; rename that folder, without {os.pathsep} in it"
        )
    folder = paths.SOURCE if name == OURS else (paths.COURSE / name).resolve()
    if not _holds_exercises(folder):
        raise KataError(
            f"{where}: sources names {said(name)}, and {said(str(folder))} holds no exercises; name a folder "
            'with exercises/e…/section.toml in it, or "torchkata"'
        )
    return folder


def _holds_exercises(folder: Path) -> bool:
    try:
        return paths.has_exercises(folder)
    except OSError:  # its name is too long, or it may not be entered
        return False


def environment() -> dict[str, str]:
    """What a process of ours needs in its environment to find the same exercises."""
    return {paths.VARIABLE: os.pathsep.join(map(str, roots()))}


def each(*parts: str) -> Iterable[Path]:
    """A file or folder of this name in each of the places that exercises come from."""
    return (root.joinpath(*parts) for root in roots())
