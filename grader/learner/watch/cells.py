"""Small tensors as cells: yours beside what was wanted, and what the call was given.

Where a result only moves numbers, each wears the colour of the place that it came from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from grader.course import example
from grader.course.arrays import Array, Named, written
from grader.course.statement import Statement
from grader.protocol.feedback import Feedback

_COLOURS = tuple(
    f"black on {bright}{colour}"
    for bright in ("", "bright_")
    for colour in ("cyan", "yellow", "green", "magenta", "blue")
)
_RIGHT, _WRONG = "black on green", "black on red"
_GAP = 3


@dataclass(frozen=True)
class Cells:
    """Tensors by name, side by side as far as there is room, those of which the first `made` are results."""

    tensors: Named
    made: tuple[str, ...] = ("yours", "wanted", "before")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        row: list[Text] = []
        for (name, array), styles in zip(self.tensors, _styles(self.tensors, self.made), strict=True):
            head = Text(f"{name} {array.shape}" if array.shape else name, "bold")
            drawn = Text("\n").join([head, *_grid(array, styles)])
            if row and sum(_width(t) + _GAP for t in (*row, drawn)) - _GAP + 2 > options.max_width:
                yield _beside(row)
                row = []
            row.append(drawn)
        if row:
            yield _beside(row)


def without(told: Feedback) -> Feedback:
    """Feedback without what its cells show."""
    drawn = told.listed.facts if told.listed else ()
    return replace(told, facts=tuple(fact for fact in told.facts if fact.name not in drawn), heatmap=None)


def of_failure(told: Feedback) -> Cells | None:
    """What feedback shows in full."""
    return Cells(told.listed.tensors) if told.listed else None


def of_example(said: Statement) -> Cells | None:
    """What the worked example gives and gets, where its numbers are written out."""
    call = example.call_of(said)
    if call is None or not call.is_written_out:
        return None
    gives = tuple((name or "gives", array) for name, array in call.gives)
    return Cells((*call.given, *gives), tuple(name for name, _ in gives))


def _styles(tensors: Named, made: tuple[str, ...]) -> list[list[str]]:
    """A style for each number: by where it came from, or whether it is right."""
    flat = [(name, array.numbers or ()) for name, array in tensors]
    sources = [value for name, some in flat if name not in made for value in some]
    results = {value for name, some in flat if name in made for value in some}
    if sources and len(set(sources)) == len(sources) and results <= set(sources):
        origin = {value: _COLOURS[at % len(_COLOURS)] for at, value in enumerate(sources)}
        return [[origin[value] for value in some] for _, some in flat]
    by_name = dict(tensors)
    yours, wanted = (by_name.get(name) for name in ("yours", "wanted"))
    styles = {name: ["reverse"] * len(some) for name, some in flat}
    if yours and wanted and yours.shape == wanted.shape:
        pairs = zip(yours.numbers or (), wanted.numbers or (), strict=True)
        styles["yours"] = [_RIGHT if mine == right else _WRONG for mine, right in pairs]
        styles["wanted"] = [_RIGHT] * len(styles["wanted"])
    return [
        styles[name] if len(styles[name]) == len(some) else ["reverse"] * len(some) for name, some in flat
    ]


def _grid(array: Array, styles: list[str]) -> Iterable[Text]:
    """A line for each row of numbers, in the brackets that lists have."""
    texts = [written(number) for number in array.numbers or ()]
    width, last = max(map(len, texts), default=0), (array.shape or (1,))[-1] or 1
    for number, start in enumerate(range(0, len(texts), last)):
        opened, closed = _brackets(array.shape[:-1], number) if array.shape else (0, 0)
        line = Text(f"{' ' * (len(array.shape) - opened)}{'[' * opened}")
        for text, style in zip(texts[start : start + last], styles[start : start + last], strict=True):
            line.append(f" {text:>{width}} ", style)
        yield line.append("]" * closed)


def _brackets(outer: tuple[int, ...], number: int) -> tuple[int, int]:
    """How many lists begin and end with this row."""
    opened = closed = size = 1
    for rows in reversed(outer):
        size *= rows
        opened += number % size == 0
        closed += (number + 1) % size == 0
    return opened, closed


def _width(text: Text) -> int:
    return max(line.cell_len for line in text.split("\n"))


def _beside(texts: list[Text]) -> Table:
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_row(*texts)
    return table
