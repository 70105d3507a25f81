"""`kata new`: the beginning of an exercise or a step. What is to be written says so; the audit lists it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from grader.authoring import project_texts, texts
from grader.core.errors import KataError
from grader.course import chapter, paths
from grader.course.catalog import Section, load
from grader.course.exercise import KINDS, STEPS, Exercise, Kind, Tree
from grader.course.rows import row_file, section_file
from grader.publish import shipped


def write(section: str, slug: str, named: str, *, step: bool = False) -> list[str]:
    """Write the files of a new exercise or step and its catalog row; the paths, for printing.

    A section that is not there yet, under a full name such as ``e20_tuning``, is begun with it.

    Raises:
        KataError: the section is unknown and no name for a new one, the slug is taken or no identifier, the
            kind is none, or not a step's.
    """
    expect_new(slug)
    kind = _kind(named, step)
    found = section_called(section)
    words = {"slug": slug, "title": title(slug), "kind": kind}
    path: Literal["first", "core"] = "first" if step else "core"
    made = Exercise(slug, found.name, 0, "", kind, path, 0, 1, (), (), (), "")
    files = {file: text.format(**words) for file, text in _texts(made).items()}
    new = [*begin(found), *packages(made)]
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    start = made.digest(made.content("exercises"))
    row = (texts.STEP_ROW if step else texts.ROW).format(start=start, **words)
    return list(dict.fromkeys([*map(paths.shown, [*new, *files]), append(row_file(made), row)]))


def _texts(made: Exercise) -> dict[Path, str]:
    """The files to write, and what they hold, with words of the exercise to be filled in."""
    specimens = texts.STEP_SPECIMENS if made.is_step else texts.SPECIMENS
    if made.is_project:
        contents = {made.file("specimens"): specimens}
        for tree, files in project_texts.FILES.items():
            contents |= {made.place(tree) / name: text for name, text in files.items()}
        return contents
    statement = texts.STEP_STATEMENT if made.is_step else texts.STATEMENT
    found: dict[Tree, str] = {
        "exercises": statement + texts.HEAD + texts.BODY[made.kind],
        "solutions": texts.HEAD + texts.SOLUTION,
        "public": texts.STEP_SUITE if made.is_step else texts.EXAMPLE,
        "hidden": texts.SUITE,
        "specimens": specimens,
    }
    return {made.file(tree): found[tree] for tree in made.trees}


def _kind(named: str, step: bool) -> Kind:
    kind = next((kind for kind in KINDS if kind == named), None)
    if kind is None:
        raise KataError(f"--kind {named!r} is neither of {', '.join(KINDS)}")
    if kind == "project" and step:
        raise KataError("a first step is one file; leave out --step, or --kind project")
    return kind


def expect_new(slug: str) -> None:
    """Raises KataError where a slug is taken, or is none."""
    if not slug.isidentifier() or slug != slug.lower():
        raise KataError(f"{slug!r} is no slug: use lower-case letters, digits and underscores")
    if any(e.slug == slug for e in load().exercises):
        raise KataError(f"an exercise is called {slug!r} already; slugs are unique, choose another")


def title(name: str) -> str:
    """A slug, or the words of a section's name, as people read them."""
    return name.replace("_", " ").capitalize()


def section_called(name: str) -> Section:
    """The section of this name, or a new one that is empty; raises KataError where neither can be."""
    sections = load().sections
    for section in sections:
        if section.is_called(name):
            return section
    if not re.fullmatch(r"e\d\d_[a-z][a-z0-9_]*", name):
        names = ", ".join(section.name for section in sections)
        raise KataError(
            f"no section is called {name!r}; there are {names}; a new one wants a name such as e20_tuning"
        )
    number, _, words = name.partition("_")
    for section in sections:
        if section.is_called(number):
            raise KataError(f"no section is called {name!r}, and {number} is {section.name}; take another")
    return Section(name, title(words), ())


def begin(section: Section) -> Iterator[Path]:
    """Write what pytest needs, and the section's catalog and chapter, where they are missing; their paths."""
    file = section_file(section.name)
    wanted = {
        paths.ROOT / "conftest.py": texts.CONFTEST,
        paths.ROOT / "pyproject.toml": shipped.pytest_settings(),
        file: texts.SECTION.format(title=section.title),
    }
    if not chapter.text_of(section.name):  # a source may have one
        wanted[file.with_name("README.md")] = texts.CHAPTER.format(title=section.title)
    for made, text in wanted.items():
        if not made.exists():
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(text, "utf-8")
            yield made


def packages(exercise: Exercise) -> Iterator[Path]:
    """Make what lets pytest tell suites of one name apart, where it is missing: an `__init__.py` a folder."""
    trees = (tree for tree in exercise.trees if tree != "specimens")  # which are texts
    folders = {folder for tree in trees for folder in _above(exercise.file(tree))}
    for folder in sorted(folders):
        made = folder / "__init__.py"
        suites = folder.is_relative_to(paths.PUBLIC)
        if not made.exists() and (suites or folder.name != STEPS):  # only suites are imported
            folder.mkdir(parents=True, exist_ok=True)
            made.touch()
            yield made


def _above(file: Path) -> Iterator[Path]:
    """The folders of the course that `file` lies in."""
    return (folder for folder in file.parents if folder != paths.ROOT and folder.is_relative_to(paths.ROOT))


def append(file: Path, row: str) -> str:
    """Put a row at the end of a section's file; its path, for printing."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(row if stream.tell() else row.lstrip())
    return paths.shown(file)
