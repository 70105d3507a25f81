"""Which statements of a notebook's cells an exercise's answer consists of. Nothing is run."""

import builtins
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.core import kernel_names
from grader.core.source_names import STAR, CodeStatement, statements
from grader.course.exercise import Exercise
from grader.notebooks.start import asked, split


@dataclass(frozen=True)
class Cell:
    """A cell's code, the slug whose answer it holds, and the slug whose checks it runs, where it says so.

    One that `is_renamed` says that it holds an answer, and to what no exercise is called.
    """

    text: str
    answers: str | None = None
    checks: str | None = None
    is_renamed: bool = False


Spot = tuple[int, int]
"""A statement's place: the number of its cell, and its own number there."""
Need = tuple[str, Spot, bool]
"""A name that has to have a value, before which place, and whether that came late already."""

SHOWN = "with _demonstration():"
"""How a line that only shows something begins in an answer (`grader.core.kernel_names`)."""
KERNEL = f"from {kernel_names.__name__} import "


class Choice:
    """What one exercise's answer needs of the cells: its own, those that nobody owns, those of others.

    As in a kernel that runs the cells in their order, a name has the value that it got last before the
    exercise's checks, which ask for it. But what is called is a function: what an experiment assigns to its
    name does not count, nor another function than the one in the exercise's own cell, unless that is the
    start.
    """

    def __init__(self, exercise: Exercise, cells: Sequence[Cell]) -> None:
        self.cells = cells
        self.notes: list[str] = []
        self.wanted = frozenset(asked(exercise.file("exercises")))
        self._start = split(exercise.file("exercises"))[1].strip()
        self._begun = frozenset(s.text.strip() for s in statements(self._start) if s.defines)
        checks = [i for i, cell in enumerate(cells) if cell.checks == exercise.slug]
        self.end = (checks[-1] if checks else len(cells), 0)
        marked = [i for i, cell in enumerate(cells) if cell.answers == exercise.slug]
        self.is_marked = bool(marked)
        self.own = marked or self._likely()
        self.blank = self._outdone()
        self.ours, self.loose, self.others, self.all = (defaultdict[str, list[Spot]](list) for _ in range(4))
        for i, cell in enumerate(cells):
            home = self.ours if i in self.own else self.loose if cell.answers is None else self.others
            for k, statement in enumerate(statements(cell.text)):
                for name in statement.binds if (i, k) not in self.blank else ():
                    home[name].append((i, k))
                    self.all[name].append((i, k))
        functions = (s for cell in cells for s in statements(cell.text) if s.defines)
        self.called = self.wanted.union(*(s.calls for s in functions))
        self.taken: dict[Spot, bool] = {}
        """Statements of other cells, and whether each comes later than its need."""
        self.shown: set[Spot] = set()
        """What nothing in the answer needs, and what of other cells that alone needs: to look at."""
        self.kept: set[Spot] = set()
        self._seen: set[Need] = set()
        self._named: set[str] = set()
        self._found: set[tuple[str, int, bool]] = set()
        self._counted: dict[tuple[str, int], Sequence[Spot]] = {}
        if self.own:
            self._choose()

    def _likely(self) -> list[int]:
        """The cell that nobody calls an answer and that defines most of what is asked for; the last such.

        Where none defines it, an assignment will do.
        """
        counts = []
        for cell in self.cells:
            held = [s for s in ([] if cell.answers else statements(cell.text)) if s.binds & self.wanted]
            done = [s for s in held if not self._is_begun(s)]
            names = ([s.defines for s in done], [s.binds for s in done], [s.binds for s in held])
            counts.append(tuple(len(self.wanted.intersection(frozenset[str]().union(*n))) for n in names))
        best = max(counts, default=())
        likely = [i for i, count in enumerate(counts) if count == best and any(best)]
        return [i for i in likely if i < self.end[0]][-1:] or likely[:1]

    def _is_begun(self, statement: CodeStatement) -> bool:
        return statement.is_stub or statement.text.strip() in self._begun

    def _outdone(self) -> set[Spot]:
        """The exercise's own definitions that are the start, where there is another one before the checks."""
        begun: dict[str, list[Spot]] = defaultdict(list)
        done: set[str] = set()
        for i, cell in enumerate(self.cells):
            for k, statement in enumerate(statements(cell.text)):
                is_own = i in self.own
                if is_own and self._is_begun(statement):
                    for name in statement.defines & self.wanted:
                        begun[name].append((i, k))
                elif is_own or (cell.answers is None and i < self.end[0]):
                    done |= statement.defines
        return {spot for name in begun.keys() & done for spot in begun[name]}

    def statement(self, spot: Spot) -> CodeStatement:
        return statements(self.cells[spot[0]].text)[spot[1]]

    @property
    def is_start(self) -> bool:
        """Whether it is the start, and nothing else."""
        is_alone = not self.taken and not self.blank
        return is_alone and [self.cells[i].text.strip() for i in self.own] == [self._start]

    def _choose(self) -> None:
        own = [(i, k) for i in self.own for k in range(len(statements(self.cells[i].text)))]
        own = [spot for spot in own if spot not in self.blank]
        self.kept |= {spot for spot in own if _makes(self.statement(spot))}
        wanted = {(name, self.end, False) for name in self.wanted}
        self._follow(wanted.union(*(self._asked_by(spot, False) for spot in self.kept)))
        needed = {*self.taken}
        others = {spot for spot in own if spot not in self.kept and not self.statement(spot).is_check}
        self._follow(set[Need]().union(*(self._asked_by(spot, False) for spot in others)))
        for_others = self.taken.keys() - needed
        self.shown = others | {spot for spot in for_others if not self.statement(spot).defines}

    def _follow(self, needed: set[Need]) -> None:
        """Take the statements of other cells that are needed, and what these need."""
        rest = [*(needed - self._seen)]
        self._seen |= needed
        while rest:
            name, before, is_late = rest.pop()
            own = {*self.ours.get(name, ())} - self.kept if name not in self._named else set[Spot]()
            self._named.add(name)
            self.kept |= own
            spots, place, is_later = self._find(name, before)
            is_late = is_late or is_later
            new = set[Need]().union(*(self._asked_by(spot, False) for spot in own))
            if place is not None and (name, place, is_late) not in self._found:
                self._found.add((name, place, is_late))
                for spot in {*_within(spots, place), *_within(self.all.get(STAR, ()), place)}:
                    self.taken[spot] = self.taken.get(spot, False) or is_late
                    new |= self._asked_by(spot, self.taken[spot])
            rest += new - self._seen
            self._seen |= new

    def _asked_by(self, spot: Spot, is_late: bool) -> set[Need]:
        """The names whose values a statement needs: some when it runs, others once the checks do."""
        statement = self.statement(spot)
        if statement.is_check:
            return set()
        now = {(name, spot, is_late) for name in statement.needs}
        return now | {(name, self.end, False) for name in statement.uses}

    def _find(self, name: str, before: Spot) -> tuple[Sequence[Spot], int | None, bool]:
        """What may give `name` its value, and the cell that does at `before`, unless the answer's own do.

        First those that run after the answer's cells, then any others; where none comes before, the
        next that does, and True.
        """
        if name in self.ours:
            last = self.ours[name][-1]
            spots = self._counting(name, self.ours)
            place = bisect_left(spots, before) - 1
            return spots, spots[place][0] if place >= 0 and spots[place] > last else None, False
        stars = {} if hasattr(builtins, name) or STAR not in self.all else {name: self.all[STAR]}
        for home in (self.loose, self.others, stars):
            if name in home:
                spots = self._counting(name, home) if home is not stars else stars[name]
                place = bisect_left(spots, before) - 1
                return spots, spots[max(place, 0)][0], place < 0
        return (), None, False

    def _counting(self, name: str, home: Mapping[str, Sequence[Spot]]) -> Sequence[Spot]:
        """Of the statements that give a name its value, those that count; beside our own those after them."""
        key = (name, id(home))
        if key not in self._counted:
            spots = home[name]
            if home is self.ours:
                spots = [*spots, *(spot for spot in self.loose.get(name, ()) if spot > spots[-1])]
            self._counted[key] = self._functions(name, spots)
        return self._counted[key]

    def _functions(self, name: str, spots: Sequence[Spot]) -> Sequence[Spot]:
        """Of what is called and defined as a function, the definitions, and what wraps them; else all."""
        defined = {spot for spot in spots if name in self.statement(spot).defines}
        if name not in self.called or not defined:
            return spots
        defined = {spot for spot in defined if not self._is_begun(self.statement(spot))} or defined
        is_marked = self.is_marked and any(i in self.own for i, _ in defined)
        found: list[Spot] = []
        is_other = False
        for spot in spots:
            if spot in defined and is_marked and spot[0] not in self.own:
                is_other = True
                if spot < self.end and name in self.wanted:
                    self.notes.append(f"{name} is defined in another cell, too; the exercise's own counts")
            elif spot in defined or (name in self.statement(spot).wraps and not is_other):
                found.append(spot)
                is_other = False
            else:
                is_other = True
        return found


_AT_HAND = frozenset({"torch", "numpy", "jaxtyping", "grader", *sys.stdlib_module_names})
"""Packages that are there wherever answers are judged."""


def _makes(statement: CodeStatement) -> bool:
    """Whether a statement makes an answer by what it is."""
    if statement.text.startswith((SHOWN, KERNEL)) or STAR in statement.binds:
        return True
    return bool(statement.defines) or bool(statement.imports and statement.imports <= _AT_HAND)


def _within(spots: Sequence[Spot], place: int) -> Sequence[Spot]:
    return spots[bisect_left(spots, (place, 0)) : bisect_left(spots, (place + 1, 0))]
