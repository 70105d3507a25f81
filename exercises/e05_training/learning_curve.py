"""A learning curve: a log that outlives a crash, and a picture of it.

TensorBoard does this, and no package is needed for it: a line for each record, a smoothed curve, an SVG that any browser
shows.

    record(file, 2, loss=0.75)        # writes {"step": 2, "loss": 0.75} and the end of the line
    read_curve(open("log"), "loss")   # the steps [0, 1, 2] and their values [2.0, 1.0, 0.75]
    smooth([2.0, 1.0, 0.75], 0.5)     # [2.0, 1.333, 1.0]
    draw([0, 1, 2], [2.0, 1.0, 0.75], 200, 100)
    # <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100">
    #   <polyline points="0,0 100,80 200,100" fill="none" stroke="black"/></svg>

- A resumed run repeats steps: where a step isn't above the one before, all earlier values from it on are dropped.
- smooth: mean ← weight · mean + (1 - weight) · value from mean = 0, and the n-th result is mean / (1 - weightⁿ).
- draw: steps go from x = 0 to width, values from y = height (lowest) up to y = 0.

Fine print:
- record flushes the file. Values may be tensors of one element. JSON has no NaN and no infinity: they are null.
- read_curve skips lines that a crash has cut, and such without the name. null is read as NaN.
- smooth: NaN stays where it is, and counts nowhere else, not even in n. Without values it gives [].
- draw: NaN breaks the curve into several polylines, and counts for no bound. Where all values are equal, y is
  height / 2; where there is one step, x is 0. Numbers are right to 0.05.
"""

from collections.abc import Iterable
from typing import TextIO

from torch import Tensor


def record(file: TextIO, step: int, **scalars: float | Tensor) -> None:
    """Write a line of JSON."""
    raise NotImplementedError


def read_curve(lines: Iterable[str], name: str) -> tuple[list[int], list[float]]:
    """The steps that count, which rise, and the values of `name` at them."""
    raise NotImplementedError


def smooth(values: list[float], weight: float) -> list[float]:
    """The moving average, without the pull of its beginning towards 0; weight is from 0 to below 1."""
    raise NotImplementedError


def draw(steps: list[int], values: list[float], width: int, height: int) -> str:
    """The text of an SVG."""
    raise NotImplementedError
