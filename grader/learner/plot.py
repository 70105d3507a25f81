"""Pictures in plain text, as wide as a page: what a section's `see.py` draws with."""

from collections.abc import Iterable, Mapping, Sequence

WIDTH, HEIGHT = 60, 12
SHADES = " ░▒▓█"


def chart(*layers: tuple[str, Iterable[float], Iterable[float]], across: str = "", up: str = "") -> str:
    """Points on a plane, as (mark, xs, ys): later ones lie over earlier ones; at the sides the ranges."""
    held = [(mark, [*map(float, xs)], [*map(float, ys)]) for mark, xs, ys in layers]
    every = [(x for _, xs, _ in held for x in xs), (y for _, _, ys in held for y in ys)]
    (left, right), (low, high) = ((min(some), max(some)) for some in map(list, every))
    rows = [[" "] * WIDTH for _ in range(HEIGHT)]
    for mark, xs, ys in held:
        for x, y in zip(xs, ys, strict=True):
            row = round((HEIGHT - 1) * (high - y) / ((high - low) or 1))
            rows[row][round((WIDTH - 1) * (x - left) / ((right - left) or 1))] = mark
    sides = [f"{high:.3g}", *[""] * (HEIGHT - 2), f"{low:.3g}"]
    sides[HEIGHT // 2] = up
    room = max(map(len, sides))
    lines = [f"{side:>{room}} │{''.join(row)}".rstrip() for side, row in zip(sides, rows, strict=True)]
    ends = f"{left:.3g}{across:^{WIDTH - len(f'{left:.3g}{right:.3g}')}}{right:.3g}"
    return "\n".join([*lines, f"{'':>{room}} └{'─' * WIDTH}", f"{'':>{room}}  {ends}"])


def bars(lengths: Mapping[str, float], unit: str = "") -> str:
    """A bar for each name; the longest one takes half the width."""
    room, most = max(map(len, lengths)), max(lengths.values())
    blocks = {name: "█" * max(round(WIDTH // 2 * n / most), int(n > 0)) for name, n in lengths.items()}
    return "\n".join(f"{name:<{room}} {blocks[name]} {n:.3g}{unit}" for name, n in lengths.items())


def shades(rows: Sequence[Sequence[float]]) -> str:
    """A cell for each number, two columns wide, from blank for the least to full for the greatest."""
    least, most = min(map(min, rows)), max(map(max, rows))
    steps = (len(SHADES) - 1) / ((most - least) or 1)
    return "\n".join("".join(2 * SHADES[round((n - least) * steps)] for n in row) for row in rows)
