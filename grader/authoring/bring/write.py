"""`kata capstone --bring`: a repository and its patches become a capstone's files, all of them or none."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from grader.authoring import capstone, skeleton
from grader.authoring.bring import capstone_of, patches, repository, texts
from grader.authoring.bring.capstone_of import Made
from grader.authoring.bring.patches import Patch
from grader.authoring.bring.repository import Repository
from grader.core.errors import KataError
from grader.core.packed import unpacked, written
from grader.course import paths, specimens
from grader.course.bug_pool import HINTS, BugPool
from grader.course.catalog import Section
from grader.course.exercise import Exercise
from grader.course.rows import row_file
from grader.course.specimen import Bug

SECTION = "e20_capstones"
"""Where it goes that is not named."""


def write(
    folder: Path, section: str = "", name: str = "", patched: Path | None = None
) -> tuple[str, list[str]]:
    """Write a capstone that is made of a repository in a folder, and of patches; its name, and what to print.

    Raises:
        KataError: the repository, a patch or a name is not as it is to be. Nothing is written then.
    """
    where = patched or folder / "patches"
    brought = repository.read(folder, where)
    slug = name or re.sub(r"\W+", "_", brought.name.lower(), flags=re.ASCII).strip("_")
    skeleton.expect_new(slug)
    found = skeleton.section_called(section or SECTION)
    bugs = patches.read(where, capstone_of.sources(brought.program))
    pool = BugPool(tuple((bug.name, ("",) * HINTS) for bug in bugs))
    exercise = Exercise(slug, found.name, 0, "", "project", "further", 0, 1, (), (), (), "", pool=pool)
    for tree in exercise.trees:
        if exercise.place(tree).exists():
            raise KataError(f"{paths.shown(exercise.place(tree))} is there already; say another --name")
    made = capstone_of.made(exercise, brought, bugs)
    with tempfile.TemporaryDirectory() as held:
        staged = replace(exercise, root=Path(held).resolve())
        for tree, files in made.files.items():
            written(files, staged.place(tree))
        _expect_as_brought(staged, made.bugs)
        capstone.write_start(staged)
        _move(staged, exercise, found)
    hints = "".join(texts.HINTS.format(name=bug.name) for bug in bugs)
    start = exercise.digest(exercise.content("exercises"))
    row = texts.ROW.format(slug=slug, title=skeleton.title(slug), start=start, hints=hints)
    lines = [*_told(brought, made), *(f"made {paths.shown(exercise.place(tree))}" for tree in exercise.trees)]
    return slug, [*lines, f"made {skeleton.append(row_file(exercise), row)}"]


def _expect_as_brought(staged: Exercise, bugs: tuple[Patch, ...]) -> None:
    """Raises KataError where a specimen does not do what its patch did, or two do not go together."""
    solution = unpacked(staged.content("solutions"))
    kept = [one for one in specimens.read(staged.file("specimens")) if isinstance(one, Bug)]
    for bug, one in zip(bugs, kept, strict=True):
        wanted = {name: text.encode() for name, text in bug.wrong.items()}
        if one.applied(solution) != solution | wanted:
            raise KataError(f"{bug.where} cannot be written as a specimen; make it smaller")
    for problem in capstone.pair_problems(staged, kept):
        raise KataError(problem)


def _move(staged: Exercise, exercise: Exercise, section: Section) -> None:
    """Put what was made where it belongs; where not all of it can be put there, it goes again."""
    new: list[Path] = []
    try:
        for source in sorted(filter(Path.is_file, staged.root.rglob("*"))):
            place = exercise.root / source.relative_to(staged.root)
            place.parent.mkdir(parents=True, exist_ok=True)
            new.append(place)
            shutil.copyfile(source, place)
        new += skeleton.begin(section)
        new += skeleton.packages(exercise)
    except OSError as broken:
        for place in new:
            place.unlink(missing_ok=True)
            for folder in place.parents:
                if folder == exercise.root or any(folder.iterdir()):
                    break
                folder.rmdir()
        raise KataError(f"{exercise.slug} cannot be written: {broken}") from None


def _told(brought: Repository, made: Made) -> Iterator[str]:
    """What became of files that are no part of the program."""
    yield from (f"left out {name}" for name in brought.left_out)
    for name, one in made.taken.items():
        yield f"test_{name}: " + (f"to be written, as {one.why}" if one.why else "taken over from your tests")
