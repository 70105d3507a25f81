"""One answer, put together from a notebook's cells: those that hold it, and what it needs from others.

What it needs are the statements that a kernel would find under the same names when it comes to the
exercise's checks. What notebooks are full of costs nothing: a name that an experiment uses again is still the
function, and what only shows something may fail. Nothing is run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.core import kernel_names
from grader.core.source_names import CodeStatement, is_python, lines_of, statements
from grader.course.exercise import Exercise
from grader.notebooks.cell_choice import KERNEL, SHOWN, Cell, Choice, Spot
from grader.notebooks.start import split


@dataclass(frozen=True)
class Gathered:
    """An answer as the text of a file, and of its lines the number of a cell, and the line there.

    `taken` are the numbers of all cells that it comes from; `notes` tell what was chosen among several.
    """

    text: str
    lines: Mapping[int, tuple[int, int]]
    taken: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()


def gathered(exercise: Exercise, cells: Sequence[Cell]) -> Gathered | None:
    """The answer that these cells hold; None where they hold none.

    It begins with the exercise's statement, so that a cell nobody has touched is the stub itself.
    """
    head, start = split(exercise.file("exercises"))
    choice = Choice(exercise, cells)
    parts = [part for part in _parts(choice) if part.text]
    if not parts:
        return None
    body = start if choice.is_start else "\n\n\n".join(part.text for part in parts) + "\n"
    lines = {}
    line = head.count("\n") + 1
    for part in parts:
        lines.update({line + k: (part.cell, number) for k, number in enumerate(part.numbers) if number})
        line += len(part.numbers) + 2
    taken = frozenset(part.cell for part in parts)
    return Gathered(head + body, lines, taken, tuple(dict.fromkeys(choice.notes)))


@dataclass(frozen=True)
class _Part:
    """A piece of the answer, the cell it comes from, and the line there of each of its own; 0 is none."""

    text: str
    cell: int
    numbers: Sequence[int]

    @classmethod
    def of(cls, lines: Sequence[str], cell: int, numbers: Sequence[int]) -> "_Part":
        """These lines, without the empty ones before and after them."""
        held = [k for k, line in enumerate(lines) if line.strip()]
        inner = slice(held[0], held[-1] + 1) if held else slice(0)
        return cls("\n".join(lines[inner]), cell, numbers[inner])


def _parts(choice: Choice) -> list[_Part]:
    """What makes the answer, in the order in which it is to run."""
    placed: list[tuple[int, Spot, _Part]] = []
    for spot, is_late in choice.taken.items():
        statement = choice.statement(spot)
        lines = _as_shown(statement) if spot in choice.shown else lines_of(statement.text)
        rank = 0 if statement.is_future else 1 if is_late else 2
        placed.append((rank, spot, _Part.of(lines, spot[0], _numbers(statement, len(lines)))))
    if given := _given(choice):
        placed.append((0, (len(choice.cells), 0), _Part(KERNEL + given, -1, (0,))))
    has_others = bool(placed)
    for i in choice.own:
        lines = lines_of(choice.cells[i].text)
        numbers = [*range(1, len(lines) + 1)]
        for k, statement in reversed([*enumerate(statements(choice.cells[i].text))]):
            old = lines_of(statement.text)
            new = [""] * len(old)
            if statement.is_future and has_others:  # what comes from the future must come before them
                placed.append((0, (i, 0), _Part.of(old, i, _numbers(statement, len(old)))))
            elif (i, k) in choice.shown:
                new = _as_shown(statement)
            elif not statement.is_check and (i, k) not in choice.blank:
                continue
            where = slice(statement.first - 1, statement.first - 1 + len(old))
            lines[where], numbers[where] = new, _numbers(statement, len(new))
        placed.append((2, (i, 0), _Part.of(lines, i, numbers)))
    return [part for _, _, part in sorted(placed, key=lambda one: one[:2])]


def _given(choice: Choice) -> str:
    """What the answer uses of a kernel's names, as it is imported."""
    spots = {*choice.kept, *choice.taken, *choice.shown}
    used = frozenset[str]().union(*(s.needs | s.uses for s in map(choice.statement, spots)))
    names = [name for name in kernel_names.NAMES if name in used and name not in choice.all]
    if choice.shown and "_demonstration" not in choice.all:
        names.append("demonstration as _demonstration")
    return ", ".join(names)


def _as_shown(statement: CodeStatement) -> list[str]:
    """The lines of what only shows something, so that nothing is lost if it fails."""
    on_one_line = f"{SHOWN} {statement.text}"
    if is_python(on_one_line):
        return lines_of(on_one_line)
    lines = lines_of(statement.text)
    below = [SHOWN, *(f"    {line}" if line.strip() else line for line in lines)]
    return below if is_python("\n".join(below)) else lines


def _numbers(statement: CodeStatement, count: int) -> list[int]:
    """The line in the cell of each of so many lines, in which a statement is the last."""
    own = statement.text.count("\n") + 1
    return [*[0] * (count - own), *range(statement.first, statement.first + own)]
