"""An update from a folder: a release that was unpacked, another clone, or what comes with the package."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from grader.core.errors import KataError
from grader.course.project import DATA
from grader.course.rows import SECTION, STEPS_FILE
from grader.publish.update import written
from grader.publish.update.backup import Backup
from grader.publish.update.held import LocalAnswer, held
from grader.publish.update.outcomes import outcomes
from grader.publish.update.report import Report

_TOOL = ("grader", "pyproject.toml", "constraints.txt", "Makefile")
"""What judges, and how it is installed: of no use where another judges."""
_HIDDEN = (".gitignore", ".github", ".vscode", ".devcontainer")
_NOT_THEIRS = (
    "__pycache__",
    "build",
    "dist",
    "results",
    "report",
    "submissions",
    "course.toml",
    "roster.csv",
)
_SETUP = {"pyproject.toml", "constraints.txt"}
_MIRRORED = (
    "tests/public/{}/test_{}.py",
    "tests/hidden/{}/test_{}.py",
    "tests/specimens/{}/{}.txt",
    "tests/specimens/{}/{}.py",  # of versions before they were texts
)


def update(root: Path, course: Path, source: str) -> Report:
    """Bring what the folder `course` holds into the folder `root`.

    What it does not hold stays, but for what belongs to an exercise that has gone from its section.

    Raises:
        KataError: `course` holds no exercises, or some that somebody has solved.
    """
    fresh, before = held(course), held(root)
    if not fresh:
        raise KataError(f"{course} holds no exercises; name the folder of a release, or of a clone")
    if solved := [one.place for one in fresh.values() if not one.is_start(one.files())]:
        raise KataError(
            f"{course} is in use, as {solved[0]} is not at its start; unpack the release anew, or clone anew"
        )
    sections = {_section(one) for one in fresh.values()}  # releases may come week by week
    left = {slug: one for slug, one in before.items() if slug in fresh or _section(one) in sections}
    answers = [one for one in outcomes(root, course) if one.slug in left]
    taken = [one.now for one in answers if one.now]
    incoming = [path for path in _files(root, course) if not any(one.holds(path) for one in taken)]
    changed = [path for path in incoming if not _is_same(root / path, course / path)]
    gone = [path for path in _gone(root, left.values(), fresh) if not (course / path).exists()]
    gone += _gone_of_tool(root, course)
    moving = [one for one in answers if not one.is_there(root)]
    backup = Backup(root)
    backup.keep(path for one in moving for path in one.was)
    backup.keep([*changed, *gone])
    written.answers(root, moving)
    # the catalog comes last: until then the starts that are here are known by it
    for path in sorted(changed, key=lambda path: path.endswith((SECTION, STEPS_FILE))):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(course / path, root / path)
    written.files(root, dict.fromkeys(gone))
    return Report(
        source,
        backup,
        answers,
        news=len(fresh.keys() - before.keys()),
        starts=sum(one.start != fresh[slug].start for slug, one in before.items() if slug in fresh),
        needs_setup=bool(_SETUP & {*changed}) and (root / "grader").is_dir(),
        is_new=bool(moving or changed or gone),
    )


def _section(one: LocalAnswer) -> str:
    return one.place.split("/")[1]


def _files(root: Path, course: Path) -> Iterator[str]:
    """The paths of what a course holds and hands on."""
    is_alike = (root / "grader").is_dir() == (course / "grader").is_dir()
    for entry in sorted(course.iterdir()):
        is_theirs = entry.name in _NOT_THEIRS or (entry.name[0] == "." and entry.name not in _HIDDEN)
        if not is_theirs and (is_alike or entry.name not in _TOOL):
            yield from _below(course, entry)


def _below(top: Path, entry: Path) -> Iterator[str]:
    for file in sorted(entry.rglob("*")) if entry.is_dir() else [entry]:
        if file.is_file() and "__pycache__" not in file.parts:
            yield PurePosixPath(file.relative_to(top)).as_posix()


def _is_same(one: Path, other: Path) -> bool:
    return one.is_file() and one.read_bytes() == other.read_bytes()


def _gone(root: Path, before: Iterable[LocalAnswer], fresh: dict[str, LocalAnswer]) -> Iterator[str]:
    """Starts, solutions and checks of exercises that have gone, or have another name now."""
    for one in before:
        now = fresh.get(one.slug)
        if now is None or now.place != one.place:
            files = one.files()
            yield from files if one.is_start(files) else ()
            yield from _below(root, data) if (data := root / one.place / DATA).exists() else ()
            place = PurePosixPath(one.place)
            folder = place.parent.relative_to("exercises").as_posix()
            solution = root / "solutions" / folder / place.name
            yield from _below(root, solution) if solution.exists() else ()
            checks = (path.format(folder, place.stem) for path in _MIRRORED)
            yield from (path for path in checks if (root / path).exists())


def _gone_of_tool(root: Path, course: Path) -> list[str]:
    """Files of the grader that the new one has not: one that is left over might be imported."""
    both = [folder / "grader" for folder in (root, course)]
    if not all(map(Path.is_dir, both)):
        return []
    mine, theirs = (set(_below(folder.parent, folder)) for folder in both)
    return sorted(mine - theirs)
