"""The page of similar answers, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.classroom.report.words import percent
from grader.classroom.similar.compare import Likeness, Prints, Reader, Together, together
from grader.course.exercise import Exercise

EVIDENCE = 30.0
"""Runs that hardly anybody else has; fewer may be chance, however alike the two are."""
ONE_EXERCISE = 0.8
"""How alike two answers to one exercise must be, if nothing else of the two students is."""
FEW_PAIRS = 3
"""As many pairs, or one of a hundred, may be as alike as that: what more are is how people write it."""
MOST_CODES = 6
RARE = 0.5
CONTEXT = 2


@dataclass(frozen=True)
class Compared:
    """One exercise, what was found, and what it was found in."""

    exercise: Exercise
    likeness: Likeness
    prints: dict[str, Prints]
    reader: Reader

    def between(self, first: str, second: str) -> tuple[float, float]:
        """How alike the two answers are, and the rare runs that they share."""
        place = self.likeness.place
        if first not in place or second not in place:
            return 0.0, 0.0
        a, b = place[first], place[second]
        return float(self.likeness.alike[a, b]), float(self.likeness.rare[a, b])


@dataclass(frozen=True)
class Piece:
    """A part of a code: `rare` and `common` are shared, `gap` stands for lines that are not shown."""

    kind: str
    text: str


@dataclass(frozen=True)
class Both:
    """One exercise of a pair, side by side; no codes where others tell more."""

    slug: str
    title: str
    alike: int
    usual: int
    as_alike: int
    pairs: int
    rare: int
    codes: list[tuple[str, list[Piece]]]


@dataclass(frozen=True)
class Pair:
    first: str
    second: str
    alike: int
    rare: int
    exercises: int
    both: list[Both]


@dataclass(frozen=True)
class Base:
    """How alike any two answers to an exercise are."""

    slug: str
    title: str
    answers: int
    short: int
    usual: int
    upper: int


@dataclass(frozen=True)
class SimilarPage:
    students: int
    compared: int
    threshold: int
    usual: int
    upper: int
    pairs: list[Pair]
    more: int
    exercises: list[Base]


def page(students: Sequence[str], compared: Sequence[Compared], threshold: float, most: int) -> SimilarPage:
    """Everything that the page shows: the pairs above the threshold, and what is usual."""
    pairs, alike = together(students, [one.likeness for one in compared])
    single = set().union(*(_nearly_the_same(one.likeness, threshold) for one in compared))
    told = [
        pair
        for pair in pairs
        if pair.rare >= EVIDENCE and (pair.alike >= threshold or (pair.first, pair.second) in single)
    ]
    return SimilarPage(
        len(students),
        len(pairs),
        percent(threshold),
        _percentile(alike, 50),
        _percentile(alike, 95),
        [_pair(pair, compared) for pair in told[:most]],
        max(0, len(told) - most),
        [_base(one) for one in compared],
    )


def _nearly_the_same(likeness: Likeness, threshold: float) -> set[tuple[str, str]]:
    """The pairs that one exercise is enough to look at: what few pairs do, and with enough rare code."""
    values = np.sort(likeness.all_pairs)[::-1]
    few = max(FEW_PAIRS, len(values) // 100)
    alike = likeness.alike
    found = (alike >= max(threshold, ONE_EXERCISE)) & (likeness.rare >= EVIDENCE)
    if len(values) > few:
        found &= alike > values[few]
    return {
        (likeness.students[a], likeness.students[b])
        for a, b in zip(*np.nonzero(np.triu(found, 1)), strict=True)
    }


def _percentile(values: "np.typing.NDArray[np.float64]", q: float) -> int:
    return percent(float(np.percentile(values, q))) if len(values) else 0


def _base(one: Compared) -> Base:
    values = one.likeness.all_pairs
    count = len(one.likeness.students)
    return Base(
        one.exercise.slug,
        one.exercise.title,
        count,
        len(one.prints) - count,
        _percentile(values, 50),
        _percentile(values, 95),
    )


def _pair(pair: Together, compared: Sequence[Compared]) -> Pair:
    found = [(*one.between(pair.first, pair.second), one) for one in compared]
    found = sorted((f for f in found if f[1] >= 1), key=lambda f: (-f[1], f[2].exercise.slug))
    both = []
    for index, (alike, rare, one) in enumerate(found):
        values = one.likeness.all_pairs
        both.append(
            Both(
                one.exercise.slug,
                one.exercise.title,
                percent(alike),
                _percentile(values, 50),
                int((values >= alike - 1e-9).sum()),
                len(values),
                round(rare),
                _codes(one, pair.first, pair.second) if index < MOST_CODES else [],
            )
        )
    return Pair(pair.first, pair.second, percent(pair.alike), round(pair.rare), pair.exercises, both)


def _codes(one: Compared, first: str, second: str) -> list[tuple[str, list[Piece]]]:
    mine, theirs = one.prints[first], one.prints[second]
    shared = mine.own & theirs.own
    rare = {run for run in shared if one.likeness.weights.get(run, 0.0) >= RARE}
    marked = [one.reader.shared(mine, theirs, runs) for runs in (shared, rare)]
    return [
        (student, pieces(prints.code, common=marked[0][side], rare=marked[1][side]))
        for side, (student, prints) in enumerate(((first, mine), (second, theirs)))
    ]


def pieces(code: str, common: Sequence[slice], rare: Sequence[slice]) -> list[Piece]:
    """The code in pieces by what is shared; lines far from anything shared are left out."""
    kinds = ["text"] * len(code)
    for kind, places in (("common", common), ("rare", rare)):
        for place in places:
            kinds[place] = [kind] * (place.stop - place.start)
    lines, start = [], 0
    for line in code.splitlines(keepends=True):
        lines.append((start, start + len(line)))
        start += len(line)
    hit = [i for i, (a, b) in enumerate(lines) if any(kind != "text" for kind in kinds[a:b])]
    near = {j for i in hit for j in range(i - CONTEXT, i + CONTEXT + 1)}
    found: list[Piece] = []
    gap = 0
    for number, (a, b) in enumerate(lines):
        if number not in near:
            gap += 1
            continue
        _close(found, gap)
        gap = 0
        while a < b:
            stop = next((k for k in range(a, b) if kinds[k] != kinds[a]), b)
            _add(found, kinds[a], code[a:stop].replace("\t", "    "))
            a = stop
    _close(found, gap)
    return found


def _close(found: list[Piece], gap: int) -> None:
    if gap:
        found.append(Piece("gap", f"{gap} {'line' if gap == 1 else 'lines'} left out"))


def _add(found: list[Piece], kind: str, text: str) -> None:
    if found and found[-1].kind == kind:
        text = found.pop().text + text
    found.append(Piece(kind, text))
