"""`kata read`: the chapter of a section, from its beginning or at a call."""

import os

from rich.console import Console, RenderableType

from grader.core.errors import KataError
from grader.course import chapter
from grader.course.catalog import Catalog, load
from grader.learner.listing import WIDTH
from grader.learner.watch import taught
from grader.learner.watch.room import Room


def find(catalog: Catalog, name: str) -> tuple[str, str]:
    """The section whose chapter is meant, and the words at which it is to be opened.

    Raises:
        KataError: no section, step, exercise or call of a chapter's table is called like this.
    """
    section = catalog.section_called(name)
    if section:
        return section.name, ""
    for one in catalog.sections:
        for row in chapter.calls(chapter.text_of(one.name)):
            if name in row.slugs or name.rstrip("()") in row.name.replace("(", " ").replace(".", " ").split():
                return one.name, row.name
    try:
        exercise = catalog.find(name)
    except KataError:
        raise KataError(f"no chapter has a row on {name!r}; `kata find {name}` looks further") from None
    called = taught.row_of(exercise)
    return exercise.section, called.name if called else ""


def shown(section: str) -> RenderableType:
    """The chapter, laid out for reading."""
    from grader.learner.chapter_page import ChapterPage  # which takes its time to import

    text = chapter.text_of(section)
    if not text:
        raise KataError(f"{section} has no chapter")
    return ChapterPage(text, code_theme="ansi_dark")


def show(out: Console, name: str) -> None:
    """The chapter: on a terminal in its pager, at the call; else from the call on."""
    section, words = find(load(), name)
    console = Console(file=out.file, width=min(out.width, WIDTH), force_terminal=out.is_terminal)
    lines = Room(console, console.options).lines([shown(section)])
    first = row_at(["".join(part.text for part in line) for line in lines], words)
    if not out.is_terminal:
        out.print(
            "\n".join("".join(s.text for s in line).rstrip() for line in lines[first:]),
            markup=False,
            highlight=False,
        )
        return
    os.environ.setdefault("LESS", f"-R +{first + 1}")
    with console.pager(styles=True):
        console.print(shown(section))


def row_at(lines: list[str], words: str) -> int:
    """The first of the lines that begin with most of a call, in their first column; else the first of all."""
    wanted = "".join(words.split())
    begun = ["".join(line.strip().split("  ")[0].split()) for line in lines]
    matched = [len(call) if wanted.startswith(call) else 0 for call in begun]
    return matched.index(max(matched, default=0)) if lines else 0
