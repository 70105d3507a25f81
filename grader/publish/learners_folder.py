"""A learner's folder, written from the course that comes with the package: all of it, and no git."""

import re
import shutil
import tempfile
from pathlib import Path

from grader.core import atomic_write
from grader.core.errors import KataError
from grader.course import paths, starts
from grader.course.rows import read
from grader.publish.shipped import lay_given, pytest_settings, without_chapters
from grader.records import capstones

_WHOLE = (
    *(".gitignore", "conftest.py", "solutions", "tests/__init__.py", "tests/public", "tests/hidden"),
    *("docs/pictures", "exercises"),
)
_SKIPPED = shutil.ignore_patterns("__pycache__")


def write(target: Path) -> int:
    """Write a learner's folder to `target`, a new or empty one; returns how many exercises it holds.

    Raises:
        KataError: `target` holds something or cannot be written, or an exercise in the clone that the package
            stands in is not its start.
    """
    count = expect_starts()
    atomic_write.expect_room(target)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target, prefix=".kata-") as folder:
            fill(Path(folder))
            # What makes it a course comes last.
            for entry in sorted(Path(folder).iterdir(), key=lambda entry: entry.name == "exercises"):
                entry.rename(target / entry.name)
    except OSError as error:
        raise KataError(
            f"cannot write {target}: {error.strerror or 'a file cannot be copied'}; choose another folder"
        ) from None
    return count


def expect_starts() -> int:
    """How many exercises come with the package.

    Raises:
        KataError: one in the clone that it stands in is not its start.
    """
    exercises = read(paths.SOURCE / "exercises").exercises
    if changed := [
        e.relative for e in exercises if not (starts.is_untouched(e) or capstones.is_untouched(e))
    ]:
        raise KataError(
            f"{len(changed)} exercises in {paths.SOURCE} are not at their start any more ({changed[0]}); "
            "`kata reset` there puts them back"
        )
    return len(exercises)


def fill(folder: Path) -> None:
    """Write what a learner's folder holds into an empty one."""
    for name in _WHOLE:
        source = paths.SOURCE / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=_SKIPPED)
        elif source.exists():  # a release lacks some
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(source, folder / name)
    lay_given(read(paths.SOURCE / "exercises").exercises, folder)
    (folder / "pyproject.toml").write_text(pytest_settings(), "utf-8")
    readme = without_chapters((paths.SOURCE / "README.md").read_text("utf-8"), "Start", "Teach", "Work on it")
    (folder / "README.md").write_text(re.sub(r"^!\[.*\n\n", "", readme, flags=re.MULTILINE), "utf-8")
