"""The picture of a statement: the numbers of its worked example as cells, before and after.

A number that is moved keeps the colour of the row that it came from, so that one sees where rows go.
"""

from collections.abc import Mapping
from html import escape
from math import prod

from grader.course.arrays import Array, Number, written
from grader.course.example import Call

_COLOURS = 4

Tones = Mapping[Number, int]
"""A colour for each number."""


def picture(call: Call) -> str:
    """HTML of a call of which all that it takes and gives is written out."""
    tones = _tones(call)
    given = "".join(_grids(name, array, tones) for name, array in call.given)
    gives = "".join(_grids(name, array, tones) for name, array in call.gives)
    before = given or f"<code>{escape(call.code)}</code>"
    told = [
        " and ".join(str(array.shape or "a number") for _, array in some) for some in (call.given, call.gives)
    ]
    caption = f"The example: {told[0] or escape(call.code)} becomes {told[1]}"
    return f'<figure class="cells" aria-label="{caption}">{before}<b>→</b>{gives}</figure>'


def _tones(call: Call) -> Tones:
    """A colour for each number by its row, where all numbers are moved and none is there twice."""
    given = [number for _, array in call.given for number in array.numbers or ()]
    gives = {number for _, array in call.gives for number in array.numbers or ()}
    if len(set(given)) < len(given) or not gives <= set(given):
        return {}
    rows = [row for _, array in call.given for row in _rows(array)]
    return {number: at % _COLOURS for at, row in enumerate(rows) for number in row}


def _rows(array: Array) -> list[tuple[Number, ...]]:
    numbers, last = array.numbers or (), (array.shape or (1,))[-1] or 1
    return [numbers[at : at + last] for at in range(0, len(numbers), last)]


def _grids(name: str, array: Array, tones: Tones) -> str:
    """A tensor: its shape, and a grid for each of its matrices."""
    columns, size = (array.shape or (1,))[-1], prod(array.shape[-2:])
    numbers = array.numbers or ()
    grids = "".join(
        f'<div class="grid" style="grid-template-columns: repeat({columns}, auto)">'
        + "".join(_cell(number, tones) for number in numbers[at : at + size])
        + "</div>"
        for at in range(0, len(numbers), size or 1)
    )
    return f"<div><small>{escape(f'{name} {array.shape or str()}'.strip())}</small>{grids}</div>"


def _cell(number: Number, tones: Tones) -> str:
    return f'<span class="tone{tones.get(number, "")}">{escape(written(number))}</span>'
