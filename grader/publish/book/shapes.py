"""The picture of a statement whose numbers are not written out: what its function takes and gives, as boxes.

A dim is as long wherever its name stands, and has its colour: one sees which go, come and change places.
"""

import ast
import re
from collections.abc import Iterator
from html import escape

from grader.course.example import Call

_DIMS = re.compile(r"Tensor, '([^']*)'")
_COLOURS = ("#bc4c00", "#0969da", "#1a7f37", "#8250df", "#9a6700", "#bf3989")
_LENGTHS = (56, 84, 40, 70, 100, 48)
_UNIT = 14
"""How long a side is that no dim has."""
_DEPTH = 6
"""By how much what lies behind is moved."""

Dims = list[str]
"""The names of a tensor's dims."""
Point = tuple[float, float]


def picture(code: str) -> str:
    """HTML for the first function whose annotations tell the dims of what comes and goes; else nothing."""
    for function in ast.walk(ast.parse(code)):
        if isinstance(function, ast.FunctionDef):
            given = [(a.arg, dims) for a in function.args.args for dims in _tensors(a.annotation)]
            after = [("", dims) for dims in _tensors(function.returns)]
            if given and after and any(dims for _, dims in (*given, *after)):
                return _drawn(function.name, given, after)
    return ""


def of_sizes(call: Call) -> str:
    """HTML for a call of an example that tells no more than the shapes of what it takes and gives."""
    given, after = (
        [(name, [*map(str, array.shape)]) for name, array in some if array.shape]
        for some in (call.given, call.gives)
    )
    return _drawn(call.code, given, after) if given and after else ""


def _tensors(annotation: ast.expr | None) -> Iterator[Dims]:
    told = ast.unparse(annotation) if annotation else ""
    yield from (dims.split() for dims in _DIMS.findall(told))


def _drawn(name: str, given: list[tuple[str, Dims]], after: list[tuple[str, Dims]]) -> str:
    tensors = (*given, *after)
    places = {
        dim: place for place, dim in enumerate(dict.fromkeys(dim for _, dims in tensors for dim in dims))
    }
    told = [", ".join(f"{own} ({', '.join(dims)})".strip() for own, dims in some) for some in (given, after)]
    before, behind = ("".join(_box(own, dims, places) for own, dims in some) for some in (given, after))
    caption = escape(f"{name}: {told[0]} becomes {told[1]}")
    return f'<figure class="cells" aria-label="{caption}">{before}<b>→</b>{behind}</figure>'


def _box(name: str, dims: Dims, places: dict[str, int]) -> str:
    """The last dim runs to the right, the one before it down; those before lie behind each other."""
    *layers, high, wide = ["", "", *dims]
    deep = " × ".join(filter(None, layers))
    depth = _DEPTH * 2 if deep else 0
    left, top = 20, 20 + depth
    width, height = _length(wide, places), _length(high, places)
    right, low = left + width, top + height
    sheets = "".join(
        f'<rect x="{left + step}" y="{top - step}" width="{width}" height="{height}"/>'
        for step in range(depth, -1, -_DEPTH)
    )
    sides = (
        _side(wide, places, (left, low), (right, low), (left + width / 2, low + 14)),
        _side(high, places, (left, top), (left, low), (left - 6, top + height / 2), turned=True),
        _side(
            deep, places, (left, top), (left + depth, top - depth), (left + depth, top - depth - 4), "start"
        ),
    )
    room = max(right + depth + 8, left + depth + 8 * len(deep), left + 8 * len(wide))
    picture = f'<svg width="{room}" height="{low + 20}">{sheets}{"".join(sides)}</svg>'
    return f"<div><small>{escape(name)}</small>{picture}</div>"


def _length(dim: str, places: dict[str, int]) -> int:
    if not dim or dim == "1":
        return _UNIT
    return _LENGTHS[places[dim] % len(_LENGTHS)]


def _side(
    dim: str,
    places: dict[str, int],
    begin: Point,
    end: Point,
    name: Point,
    anchor: str = "middle",
    *,
    turned: bool = False,
) -> str:
    """An edge in the colour of its dim, the first where there are several, and the name beside it."""
    if not dim:
        return ""
    colour = _COLOURS[places[dim.split(" × ")[0]] % len(_COLOURS)]
    x, y = name
    turn = f' transform="rotate(-90 {x:g} {y:g})"' if turned else ""
    return (
        f'<line x1="{begin[0]:g}" y1="{begin[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}" stroke="{colour}"/>'
        f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}"{turn}>{escape(dim)}</text>'
    )
