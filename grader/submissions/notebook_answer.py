"""One answer, put together from a notebook's cells: those that hold it, and what it needs from others.

What it needs are the statements that a kernel would find under the same names when it comes to the
exercise's checks. Nothing is run.
"""

import ast
import builtins
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.core.source_names import STAR, Statement, asked_for, binds, statements
from grader.course.exercise import Exercise


@dataclass(frozen=True)
class Cell:
    """A cell's code, the slug whose answer it holds, and the slug whose checks it runs, where it says so."""

    text: str
    answers: str | None = None
    checks: str | None = None


@dataclass(frozen=True)
class Gathered:
    """An answer as the text of a file, and of its lines the number of a cell, and the line there."""

    text: str
    lines: Mapping[int, tuple[int, int]]


def gathered(exercise: Exercise, cells: Sequence[Cell]) -> Gathered | None:
    """The answer that these cells hold; None where they hold none.

    It begins with the exercise's statement, so that a cell nobody has touched is the stub itself.
    """
    head, start = split(exercise.file("exercises"))
    parts = _Gathering(exercise, cells).parts()
    if not any(part.text.strip() for part in parts):
        return None
    is_start = [part.text.strip() for part in parts] == [start.strip()]
    body = start if is_start else "\n\n\n".join(part.text.strip("\n") for part in parts) + "\n"
    lines = {}
    line = head.count("\n") + 1
    for part in parts:
        above = len(part.text) - len(part.text.lstrip("\n"))
        count = part.text.strip("\n").count("\n") + 1
        lines.update({line + k: (part.cell, part.line + above + k) for k in range(count)})
        line += count + 2
    return Gathered(head + body, lines)


@cache
def split(file: Path) -> tuple[str, str]:
    """A file's docstring with the empty lines below it, and its code: a notebook shows them in two cells."""
    text = file.read_text("utf-8")
    tree = ast.parse(text)
    if not tree.body or ast.get_docstring(tree) is None:
        return "", text
    lines = text.splitlines(keepends=True)
    end = tree.body[0].end_lineno or 0
    while end < len(lines) and not lines[end].strip():
        end += 1
    return "".join(lines[:end]), "".join(lines[end:])


@cache
def asked(file: Path) -> tuple[str, ...]:
    """The names that an exercise asks for."""
    return tuple(asked_for(file.read_text("utf-8")))


Spot = tuple[int, int]
"""A statement's place: the number of its cell, and its own number there."""


@dataclass(frozen=True)
class _Part:
    """A piece of the answer, and the cell and line on which it begins."""

    text: str
    cell: int
    line: int = 1


class _Gathering:
    """Puts one answer together. `own` are the cells that hold it, `end` is where its checks are run."""

    def __init__(self, exercise: Exercise, cells: Sequence[Cell]) -> None:
        self.cells = cells
        self.wanted = frozenset(asked(exercise.file("exercises")))
        checks = [i for i, cell in enumerate(cells) if cell.checks == exercise.slug]
        self.end = (checks[-1] if checks else len(cells), 0)
        self.own = [i for i, cell in enumerate(cells) if cell.answers == exercise.slug] or self._likely()
        self.ours, self.loose, self.others, self.all = (defaultdict[str, list[Spot]](list) for _ in range(4))
        for i, cell in enumerate(cells):
            home = self.ours if i in self.own else self.loose if cell.answers is None else self.others
            for k, statement in enumerate(statements(cell.text)):
                for name in statement.binds:
                    home[name].append((i, k))
                    self.all[name].append((i, k))

    def _likely(self) -> list[int]:
        """The cell that nobody calls an answer and that defines most of what is asked for; the last such."""
        counts = [0 if cell.answers else len(self.wanted & binds(cell.text)) for cell in self.cells]
        best = max(counts, default=0)
        likely = [i for i, count in enumerate(counts) if count == best > 0]
        return [i for i in likely if i < self.end[0]][-1:] or likely[:1]

    def parts(self) -> list[_Part]:
        """What makes the answer, in the order in which it is to run."""
        own = {i: self.cells[i].text for i in self.own}
        placed: list[tuple[int, Spot, _Part]] = []
        for spot, is_late in self._taken().items() if own else ():
            statement = self._statement(spot)
            part = _Part(statement.text, spot[0], statement.first)
            placed.append((0 if statement.is_future else 1 if is_late else 2, spot, part))
        has_others = bool(placed)
        for i in own:
            for statement in statements(own[i]):
                if statement.is_future and has_others:  # what comes from the future must come before them
                    placed.append((0, (i, 0), _Part(statement.text, i, statement.first)))
                elif not statement.is_check:
                    continue
                own[i] = _without(statement, own[i])
        placed += [(2, (i, 0), _Part(text, i)) for i, text in own.items()]
        return [part for _, _, part in sorted(placed, key=lambda one: one[:2])]

    def _statement(self, spot: Spot) -> Statement:
        return statements(self.cells[spot[0]].text)[spot[1]]

    def _taken(self) -> dict[Spot, bool]:
        """The statements of other cells that the answer needs, and whether each comes later than its need."""
        needed: list[tuple[str, Spot, bool]] = [(name, self.end, False) for name in self.wanted]
        for i in self.own:
            for k in range(len(statements(self.cells[i].text))):
                needed += self._asked_by((i, k), False)
        seen = set(needed)
        given: set[tuple[str, int, bool]] = set()
        taken: dict[Spot, bool] = {}
        while needed:
            name, before, is_late = needed.pop()
            place, is_later = self._find(name, before)
            is_late = is_late or is_later
            if place is None or (name, place, is_late) in given:
                continue
            given.add((name, place, is_late))
            for spot in [*_within(self.all[name], place), *_within(self.all[STAR], place)]:
                taken[spot] = taken.get(spot, False) or is_late
                new = self._asked_by(spot, taken[spot]) - seen
                seen |= new
                needed += new
        return taken

    def _asked_by(self, spot: Spot, is_late: bool) -> set[tuple[str, Spot, bool]]:
        """The names whose values a statement needs: some when it runs, others once the checks do."""
        statement = self._statement(spot)
        if statement.is_check:
            return set()
        now = {(name, spot, is_late) for name in statement.needs}
        return now | {(name, self.end, False) for name in statement.uses}

    def _find(self, name: str, before: Spot) -> tuple[int | None, bool]:
        """The cell that gives `name` the value that it has at `before`, unless the answer's own cells do.

        First those that run after the answer's cells, then any others; where none comes before, the
        next that does, and True.
        """
        if ours := self.ours.get(name):
            later = _last(self.loose.get(name, []), before)
            return later[0] if later and later > ours[-1] else None, False
        stars = [] if hasattr(builtins, name) else self.all.get(STAR, [])
        for spots in (self.loose.get(name), self.others.get(name), stars):
            if spots:
                earlier = _last(spots, before)
                return (earlier or spots[0])[0], earlier is None
        return None, False


def _without(statement: Statement, text: str) -> str:
    """A cell's text with empty lines in the place of a statement."""
    lines = text.splitlines(keepends=True)
    for k in range(statement.first - 1, statement.first + statement.text.count("\n")):
        lines[k] = "\n"
    return "".join(lines)


def _last(spots: Sequence[Spot], before: Spot) -> Spot | None:
    place = bisect_left(spots, before)
    return spots[place - 1] if place else None


def _within(spots: Sequence[Spot], place: int) -> Sequence[Spot]:
    return spots[bisect_left(spots, (place, 0)) : bisect_left(spots, (place + 1, 0))]
