"""What a class's scores say about the exercises: classical test theory.

Nothing here knows of records or files. Scores come as a table with a row for each student and a column for
each exercise; NaN is a score that was not judged or not set, and counts for nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEWEST = 3
"""Students that a correlation is computed for: any two lie on a line."""
BINS = 10

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Item:
    """One exercise as an item of a test. None is a number that is not defined for these scores."""

    judged: int
    difficulty: float | None
    discrimination: float | None


def items(scores: Table, points: Sequence[float]) -> list[Item]:
    """Difficulty and discrimination of every column.

    Difficulty is the mean share of the points, so a hard exercise has a low one. Discrimination is the
    corrected item-total correlation: Pearson's, between the score and the total of the *other* exercises,
    since a score correlates with any total that it is part of. Where students have not been judged on the
    same exercises, that total is taken as the share of the points that each of them could earn.

    L. Crocker and J. Algina, Introduction to Classical and Modern Test Theory (1986), chapter 14; the
    correction: S. Henrysson, Correction of item-total correlations in item analysis, Psychometrika 28 (1963).

    Args:
        scores: students by exercises, in points; NaN where there is none.
        points: what each exercise is worth; one that is worth nothing has no numbers.
    """
    worth = np.asarray(points, dtype=np.float64)
    judged = ~np.isnan(scores)
    earned = np.where(judged, scores, 0.0)
    possible = np.where(judged, worth, 0.0)
    found = []
    for column in range(len(worth)):
        rest = possible.sum(axis=1) - possible[:, column]
        counts = judged[:, column] & (rest > 0)
        others = (earned.sum(axis=1) - earned[:, column])[counts] / rest[counts]
        mine = scores[judged[:, column], column]
        sound = worth[column] > 0 and len(mine) > 0
        found.append(
            Item(
                judged=int(judged[:, column].sum()),
                difficulty=float(mine.mean() / worth[column]) if sound else None,
                discrimination=correlation(scores[counts, column], others) if sound else None,
            )
        )
    return found


def correlation(x: Table, y: Table) -> float | None:
    """Pearson's r; None for fewer than three pairs, or where one of the two does not vary."""
    if len(x) < FEWEST or _constant(x) or _constant(y):
        return None
    a, b = x - x.mean(), y - y.mean()
    r = float(a @ b / math.sqrt(float(a @ a) * float(b @ b)))
    return min(1.0, max(-1.0, r))


def _constant(values: Table) -> bool:
    """Whether the values are one number, give or take the rounding of sums of points."""
    return bool(np.ptp(values) <= 1e-9 * max(1.0, float(np.abs(values).max())))


def histogram(shares: Sequence[float]) -> list[int]:
    """How many of the shares, 0 to 1, lie in each tenth; the last tenth holds 1 as well."""
    counts = [0] * BINS
    for share in shares:
        counts[min(BINS - 1, max(0, math.floor(round(share * BINS, 9))))] += 1
    return counts


def median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if len(values) else None


def mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None
