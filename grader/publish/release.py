"""A repository for students: statements, public suites, the learner's verbs, and no answers."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from grader.core import atomic_write
from grader.core.errors import KataError
from grader.course import paths, sources, starts
from grader.course.catalog import load
from grader.course.exercise import Exercise, Tree
from grader.course.lookup import symptoms
from grader.course.rows import row_file, rows_of, section_file
from grader.publish.shipped import lay_given, pytest_settings, without_chapters
from grader.records import capstones

_WHOLE = (
    *("conftest.py", "constraints.txt", "pyproject.toml", "LICENSE", ".gitignore"),
    *("grader", ".devcontainer", ".vscode", ".github/workflows/learn.yml"),
)
_TREES: tuple[Tree, ...] = ("exercises", "public")
_SKIPPED = shutil.ignore_patterns("__pycache__", "*.pyc")


def release(target: Path, only: list[str] | None) -> int:
    """Write the students' repository to `target`, a new or empty folder; returns how many exercises it holds.

    From a course's folder: the course's exercises, and all else from the torchkata that `kata` belongs to.

    Raises:
        KataError: `target` holds something, lies inside this clone or course, or cannot be written, or an
            exercise's file is not its start.
    """
    exercises = load().select(only)
    starts.expect(e for e in exercises if not capstones.is_untouched(e))
    tool = paths.ROOT if paths.is_clone() else paths.SOURCE
    _expect_room(target, (tool, *sources.roots()))
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in _WHOLE:
            _copy(tool / name, target / name)
        for picture in (tool / "docs").rglob("*.svg"):  # the pages there are for authors and instructors
            _copy(picture, target / picture.relative_to(tool))
        for exercise in exercises:
            for tree in _TREES:
                _copy(exercise.place(tree), target / exercise.place(tree).relative_to(exercise.root))
        lay_given(exercises, target)
        _copy_sections(exercises, target)
        for folder in sources.each("exercises", symptoms.FOLDER):
            for file in folder.glob("*.md"):
                _copy(file, target / "exercises" / symptoms.FOLDER / file.name)
        _write_catalog(exercises, target)
        _write_guides(tool, target)
    except OSError as error:
        raise KataError(f"cannot write {target}: {error.strerror}; choose another folder") from None
    return len(exercises)


def _expect_room(target: Path, around: Iterable[Path]) -> None:
    for root in around:
        if target.resolve().is_relative_to(root):
            what = "clone" if (root / "grader").is_dir() else "course"
            raise KataError(f"{target} lies inside this {what}; release to a folder outside it")
    atomic_write.expect_room(target)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=_SKIPPED)
    elif source.exists() and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _copy_sections(exercises: Iterable[Exercise], target: Path) -> None:
    """What belongs to a section as a whole: its chapter, and what makes folders importable."""
    folders = {e.place(tree).parent.relative_to(e.root) for e in exercises for tree in _TREES}
    for folder in {*folders, *(folder.parent for folder in folders), Path("tests")}:
        for name in ("__init__.py", "README.md", "conftest.py", "see.py"):
            for source in sources.each(str(folder), name):
                _copy(source, target / folder / name)


def _write_catalog(exercises: Iterable[Exercise], target: Path) -> None:
    """The rows of the released exercises, as they stand. A section's own file has its title, too."""
    homes = {exercise.slug: exercise.root for exercise in exercises}
    texts: dict[Path, str] = {}
    for root, file in dict.fromkeys(
        (e.root, file) for e in exercises for file in (section_file(e.section, e.root), row_file(e))
    ):
        head, *rows = rows_of(file.read_text("utf-8"))
        kept = [row for row in rows if homes.get(row.split("]")[0].removeprefix("[exercise.")) == root]
        place = target / file.relative_to(root)
        texts[place] = texts.get(place, head) + "".join(kept)
    for place, text in texts.items():
        place.write_text(text, "utf-8")


def _write_guides(tool: Path, target: Path) -> None:
    """The README; and the Makefile of a tool that comes along, else what pytest is to read."""
    readme = (tool / "README.md").read_text("utf-8")
    if (tool / "grader").is_dir():
        makefile = (tool / "Makefile").read_text("utf-8")
        (target / "Makefile").write_text(_without_grading(makefile), "utf-8")
    else:
        readme = without_chapters(readme, "Start").replace(
            "## Without a clone", f"{_START}## Without a clone"
        )
        (target / "pyproject.toml").write_text(pytest_settings(), "utf-8")
    (target / "README.md").write_text(_for_learners(readme), "utf-8")


_START = """## Start

In a virtual environment:

```sh
pip install torchkata
kata watch
```

"""

_GRADING = """## How it is graded

The checks in `tests/public` are not all: hidden ones grade too. They ask for nothing that the statement does
not name, so read it to the end. An exercise earns its points for the share of its job that is done, some of
them only where the fine print is kept as well. Of first steps all checks are here.
"""


def _for_learners(readme: str) -> str:
    """The README for those who have a release: with a chapter on what grades."""
    kept = without_chapters(readme, "Without a clone", "Capstones", "Teach", "Work on it")
    return re.sub(r"^\| `kata (solution|capstone) .*\n", "", kept, flags=re.MULTILINE) + _GRADING


def _without_grading(makefile: str) -> str:
    """The Makefile without the targets that need what a release does not hold."""
    targets = (
        "grade test check lint test-suites test-grader audit sandbox browser database .venv/.class .venv/.dev"
    )
    gone = (*(f"{target}:" for target in targets.split()), "PARTS", ".PHONY: gradescope")
    blocks = [b for b in makefile.split("\n\n") if not b.startswith(gone)]
    text = re.sub(
        r"^\.PHONY: learn .*$", ".PHONY: learn setup clean", "\n\n".join(blocks), flags=re.MULTILINE
    )
    return text.replace("Three verbs to start with; each sets up", "One verb to start with; it sets up")
