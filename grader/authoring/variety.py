"""How much the results of an oracle differ from seed to seed.

An answer that knew the result in advance would agree with the reference. So what an oracle returns is to
depend on what it draws: in many numbers, and not only in a few small ones. Without torch, as `agreement` is.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations
from typing import Any

from grader.core.tolerance import resolution
from grader.verdict.oracle_match import array

LEAST = 64
"""Bits by which the results of any two seeds are to differ."""

LEAST_OF_STEP = 8
"""A step's result may be a few small numbers, and nobody would forge one."""

LEAST_CASES = 3
"""Cases that differ from seed to seed: what repeats proves nothing."""

_NUMBER, _TEXT, _FLAG = 8, 4, 1
"""Bits that a difference counts: of a number at most, of a text (as a rule one of a few names), of a bool."""

_CLOSE = resolution("float32")


def problem(results: Sequence[Any], least: int = LEAST) -> str | None:
    """What is wrong with an oracle that gives these encoded results, one for each seed, or None."""
    found = bits(results)
    if found < least:
        return (
            f"the oracle hardly depends on the seed: two results differ by {found} bits, and {least} are "
            "wanted; draw its inputs and their sizes from gen, and return the numbers that are made of them"
        )
    cases = _cases(results)
    if same := [name for name, given in cases if not _differ(given)]:
        return (
            f"the oracle gives the same for every seed in {', '.join(map(repr, same))}: draw what it depends "
            "on, such as which of some inputs are refused, or make it a part of another case"
        )
    if len(cases) < LEAST_CASES:
        return (
            f"the oracle has {len(cases)} of the {LEAST_CASES} cases that are wanted, each of its own inputs"
        )
    return None


def _cases(results: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """What each case gave, seed by seed, with its name, which may tell of a size that was drawn."""
    if any(result[0] != "d" for result in results):
        return [("its only case", [*results])]
    return [
        (pairs[0][0], [given for _, given in pairs])
        for pairs in zip(*(result[1] for result in results), strict=False)
    ]


def _differ(given: Sequence[Any]) -> bool:
    pairs = combinations(range(len(given)), 2)
    return any(_bits(column[one], column[other]) for one, other in pairs for column in set(_columns(given)))


def bits(results: Sequence[Any]) -> int:
    """The bits by which those two encoded results differ that differ least.

    What changes together counts once, such as a size that stands in ten places.
    """
    columns = set(_columns(results))
    pairs = combinations(range(len(results)), 2)
    return min(sum(_bits(column[one], column[other]) for column in columns) for one, other in pairs)


def _columns(results: Sequence[Any]) -> Iterator[tuple[Hashable, ...]]:
    """What stands in one place in each result, place by place."""
    tags = tuple(result[0] for result in results)
    if len(set(tags)) > 1:
        yield tuple(str(result) for result in results)
    elif tags[0] == "r":
        yield from _columns([result[3] for result in results])
    elif tags[0] == "t":
        yield from zip(*(result[2] for result in results), strict=False)  # the sizes
        yield from zip(*(array(result).ravel().tolist() for result in results), strict=False)
    elif tags[0] == "l":
        yield tuple(len(result[1]) for result in results)
        for items in zip(*(result[1] for result in results), strict=False):
            yield from _columns(items)
    elif tags[0] == "d":
        dicts = [dict(map(tuple, result[1])) for result in results]
        for key in set().union(*dicts):
            yield from _columns([found.get(key, ["absent"]) for found in dicts])
    elif tags[0] in ("i", "f"):
        yield tuple(float(result[1]) for result in results)
    else:
        yield tuple(result[-1] for result in results)


def _bits(one: Any, other: Any) -> int:
    if one == other or (one != one and other != other):  # NaN is not itself
        return 0
    if isinstance(one, str):
        return _TEXT
    if isinstance(one, complex):
        return _bits(one.real, other.real) + _bits(one.imag, other.imag)
    if isinstance(one, bool) or not math.isfinite(one) or not math.isfinite(other):
        return _FLAG
    if float(one).is_integer() and float(other).is_integer():
        return min(int(abs(one - other)).bit_length(), _NUMBER)
    return 0 if math.isclose(one, other, rel_tol=_CLOSE) else _NUMBER
