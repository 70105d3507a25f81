"""The map in a check's feedback, drawn: squares for right values, crossed ones for wrong values."""

from collections.abc import Sequence

from grader.protocol.feedback import RIGHT, WRONG

_SQUARE = 11
_COLOURS = {RIGHT: "#9ccc9c", WRONG: "#d9534f"}


def squares(rows: Sequence[str]) -> str:
    """An SVG of a map's rows. Wrong values are crossed as well as red, and told in the picture's label."""
    width, height = max(map(len, rows)) * _SQUARE, len(rows) * _SQUARE
    shapes = []
    for y, row in enumerate(rows):
        for x, mark in enumerate(row):
            if mark in _COLOURS:
                left, top, side = x * _SQUARE, y * _SQUARE, _SQUARE - 1
                shapes.append(
                    f'<rect x="{left}" y="{top}" width="{side}" height="{side}" fill="{_COLOURS[mark]}"/>'
                )
                if mark == WRONG:
                    low, high, far = left + 3, left + side - 3, top + side - 3
                    shapes.append(
                        f'<path d="M{low} {top + 3}L{high} {far}M{high} {top + 3}L{low} {far}"'
                        ' stroke="#fff" stroke-width="1.5"/>'
                    )
    return (
        f'<svg role="img" aria-label="{label(rows)}" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}">{"".join(shapes)}</svg>'
    )


def label(rows: Sequence[str]) -> str:
    """The map in words: `map of right and wrong values, 2 rows: row 1 wrong at 1 to 3 of 4; row 2 right`."""
    told = []
    for number, row in enumerate(rows, start=1):
        at = _runs([i for i, mark in enumerate(row, start=1) if mark == WRONG])
        told.append(f"row {number} wrong at {at} of {len(row)}" if at else f"row {number} right")
    size = f"{len(rows)} rows" if len(rows) > 1 else "1 row"
    return f"map of right and wrong values, {size}: {'; '.join(told)}"


def _runs(places: list[int]) -> str:
    """`1 to 3, 5`."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][1] + 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in runs)
