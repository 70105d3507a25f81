"""The one question of the first `kata watch`: which way somebody wants to go through the course."""

from collections.abc import Container, Mapping

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from grader.course.catalog import Catalog, Section
from grader.learner.course_map import has_steps
from grader.learner.watch import terminal
from grader.learner.watch.keyboard import letters
from grader.learner.watch.terminal import Terminal
from grader.protocol.statuses import State
from grader.records import progress
from grader.records.route import WAYS, Route

_LETTERS = "abcdefghijklmnoprstuvwxyz"
"""One for each section; q leaves."""

_PATIENCE = 60.0
"""Seconds between two looks for a key; a person may take as long as they like."""


def path(out: Console, catalog: Catalog, states: Mapping[str, State], *, may_ask: bool) -> Route | None:
    """The path that was chosen; None for who would rather leave than choose one.

    Args:
        may_ask: whether the question is asked, where nobody answered it and a terminal gives keys.
    """
    way = progress.path_of(catalog, states)
    keys = terminal.here()
    if keys is None or not may_ask or progress.chosen(catalog) or not has_steps(catalog):
        return way
    try:
        answer = ask(out, keys, catalog)
    except KeyboardInterrupt:
        return None
    if answer:
        progress.choose(answer)
    return answer


def ask(out: Console, keys: Terminal, catalog: Catalog) -> Route | None:
    """The way that is chosen; None for who would rather leave."""
    sections = dict(zip(_LETTERS, catalog.sections, strict=False))
    with keys.single_keys():
        letter = _pressed(out, keys, how_far(), "123\r\n")
        if letter == "3":
            letter = _pressed(out, keys, which(sections), sections)
            return Route("section", sections[letter].name) if letter else None
    return Route("core" if letter == "2" else "first") if letter else None


def how_far() -> RenderableType:
    """The question."""
    answers = {"1": f"new to it: {WAYS['first']}", "2": f"at home in it: {WAYS['core']}"}
    answers["3"] = "here for one section: its steps and easy exercises, then its others"
    return _choice("How well do you know PyTorch?", answers, "press 1, 2 or 3; `kata path` changes it later")


def which(sections: Mapping[str, Section]) -> RenderableType:
    """The question after the third answer."""
    answers = {letter: f"{s.name:<16} {s.title}" for letter, s in sections.items()}
    return _choice("Which section?", answers, "press its letter")


def _choice(question: str, answers: Mapping[str, str], how: str) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row(Text(), Text(question, "bold"))
    for key, words in {"": "", **answers, " ": ""}.items():
        table.add_row(Text(f"  {key}", "bold cyan"), Text(words))
    table.add_row(Text(), Text(f"{how}; q leaves", "dim"))
    return table


def _pressed(out: Console, keys: Terminal, told: RenderableType, known: Container[str]) -> str | None:
    """The key of these that is pressed; None for q, and where the terminal is gone."""
    if out.is_terminal:
        out.clear()
    out.print(told, soft_wrap=False)
    while (pressed := keys.read(_PATIENCE)) != "":
        for letter in letters(pressed):
            if letter == "q":
                return None
            if letter in known:
                return letter
    return None
