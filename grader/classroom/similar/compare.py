"""How alike the answers of a class are, and how much of that is worth anything.

Answers are cut into overlapping runs of symbols, as winnowing does (S. Schleimer, D. Wilkerson, A. Aiken,
Winnowing: local algorithms for document fingerprinting, SIGMOD 2003), by copydetect. Runs that occur in the
statement, in the reference or in the specimens are left out: anybody may have them. A run that is left
counts by how rare it is in the class: 1 if nobody but the two has it, next to 0 if everybody does. So right
answers that are alike because there is only one way to write them say little, and it takes rare agreement,
added up over all exercises, to bring two students to the top.
"""

import io
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.classroom.similar.tokens import Alphabet, Symbol, symbols
from grader.core.errors import KataError

RUN = 8
"""Symbols in a run. Shorter ones are in every program; longer ones break at every small change."""
FEWEST = 8
"""Runs of their own that an answer needs to be compared at all."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Prints:
    """What an answer is compared by."""

    code: str
    row: list[Symbol]
    fingerprint: Any

    @property
    def own(self) -> set[int]:
        """The runs that are not anybody's."""
        found: set[int] = self.fingerprint.hashes
        return found


class Reader:
    """Makes fingerprints; the same symbols are the same everywhere."""

    def __init__(self) -> None:
        self._detector = _copydetect()
        self._alphabet = Alphabet()

    def boilerplate(self, texts: Iterable[str]) -> set[int]:
        """The runs that anybody may have."""
        return {run for text in texts for run in self._fingerprint(symbols(text)).hashes}

    def prints(self, code: str, boilerplate: set[int]) -> Prints:
        row = symbols(code)
        found = self._fingerprint(row)
        found.hashes = set(found.hashes) - boilerplate
        found.hash_idx = {run: places for run, places in found.hash_idx.items() if run in found.hashes}
        return Prints(code, row, found)

    def shared(self, mine: Prints, theirs: Prints, runs: set[int]) -> tuple[list[slice], list[slice]]:
        """Where in both codes those of `runs` stand that both have."""
        pair = [self._only(prints.fingerprint, runs) for prints in (mine, theirs)]
        _, _, found = self._detector.compare_files(*pair)
        return _places(mine, found[0]), _places(theirs, found[1])

    def _fingerprint(self, row: list[Symbol]) -> Any:
        # Every run is kept (a window of 1): answers are short, and which ones a wider window keeps would
        # depend on Python's random hashes. The symbols are ours, so that copydetect filters nothing.
        text = io.StringIO(self._alphabet.written(row))
        return self._detector.CodeFingerprint("", RUN, 1, filter=False, fp=text)

    def _only(self, fingerprint: Any, runs: set[int]) -> Any:
        found = object.__new__(type(fingerprint))
        found.__dict__.update(fingerprint.__dict__)
        found.hashes = fingerprint.hashes & runs
        return found


def _copydetect() -> Any:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # which copydetect imports, and which chats
    try:
        import copydetect
    except ImportError as missing:
        raise KataError(
            f"comparing answers needs copydetect ({missing}): pip install 'torchkata[class]'"
        ) from None
    return copydetect


def _places(prints: Prints, found: Any) -> list[slice]:
    """Runs of symbols as parts of the code, without the comments and docstrings between them."""
    if len(found) == 0:
        return []
    places: list[slice] = []
    for first, last in np.asarray(found, dtype=int).T.tolist():
        for symbol in prints.row[first:last]:
            if places and not prints.code[places[-1].stop : symbol.start].strip():
                places[-1] = slice(places[-1].start, symbol.end)
            else:
                places.append(slice(symbol.start, symbol.end))
    return places


@dataclass(frozen=True)
class Likeness:
    """One exercise's answers, compared with each other; rows and columns are `students`.

    `alike` is the weight of the shared runs against all of both; `rare` is the weight itself, in runs
    that nobody else has. `weights` holds, for each run, what it counts between two who share it.
    """

    students: list[str]
    alike: Matrix
    rare: Matrix
    apart: Matrix
    weights: dict[int, float] = field(repr=False)

    @cached_property
    def place(self) -> dict[str, int]:
        return {student: index for index, student in enumerate(self.students)}

    @cached_property
    def all_pairs(self) -> Matrix:
        """How alike any two are, each two once."""
        return self.alike[np.triu_indices(len(self.students), 1)]


def compare(answers: Mapping[str, Prints]) -> Likeness:
    """Compare all answers to one exercise that have enough of their own."""
    students = [student for student, prints in answers.items() if len(prints.own) >= FEWEST]
    count = len(students)
    holders: dict[int, list[int]] = {}
    for index, student in enumerate(students):
        for run in answers[student].own:
            holders.setdefault(run, []).append(index)
    runs = [run for run, held in holders.items() if len(held) > 1]
    has = np.zeros((count, len(runs)), dtype=np.float32)
    for column, run in enumerate(runs):
        has[holders[run], column] = 1
    held = has.sum(axis=0, dtype=np.float64)
    scale = np.log(max(count, 2))
    # How rare a run is by all but the two who are compared: one who shares it, or one who has it alone.
    shared_weight = (np.log(count) - np.log(held - 1)) / scale if count else held
    alone_weight = (np.log(count) - np.log(held)) / scale if count else held
    rare = _symmetric((has * shared_weight.astype(np.float32)) @ has.T)
    alone = np.array([sum(len(holders[run]) == 1 for run in answers[s].own) for s in students], dtype=float)
    mine = (alone + has @ alone_weight)[:, None] - (has * alone_weight.astype(np.float32)) @ has.T
    apart = _symmetric(mine + mine.T)
    return Likeness(
        students, _share(rare, apart), rare, apart, dict(zip(runs, shared_weight.tolist(), strict=True))
    )


def _symmetric(matrix: Any) -> Matrix:
    """Without the rounding of a product, and nobody alike to themselves."""
    found: Matrix = np.asarray(matrix, dtype=np.float64)
    found = np.asarray(np.maximum((found + found.T) / 2, 0.0))
    np.fill_diagonal(found, 0.0)
    return found


def _share(rare: Matrix, apart: Matrix) -> Matrix:
    found: Matrix = np.divide(2 * rare, 2 * rare + apart, out=np.zeros_like(rare), where=rare > 0)
    return np.round(found, 4)  # the products are in float32: the same code must be alike by 1


@dataclass(frozen=True)
class Together:
    """Two students over all exercises."""

    first: str
    second: str
    alike: float
    rare: float
    exercises: int


def together(students: Sequence[str], found: Iterable[Likeness]) -> tuple[list[Together], Matrix]:
    """Every two students that were compared at all, most rare agreement first; and how alike any two are."""
    place = {student: index for index, student in enumerate(students)}
    size = len(students)
    rare, apart, compared = (np.zeros((size, size)) for _ in range(3))
    for likeness in found:
        rows = np.ix_(*[[place[s] for s in likeness.students]] * 2)
        rare[rows] += likeness.rare
        apart[rows] += likeness.apart
        compared[rows] += 1
    alike = _share(rare, apart)
    upper = [(a, b) for a in range(size) for b in range(a + 1, size) if compared[a, b]]
    pairs = [
        Together(students[a], students[b], float(alike[a, b]), float(rare[a, b]), int(compared[a, b]))
        for a, b in upper
    ]
    pairs.sort(key=lambda pair: (-pair.rare, pair.first, pair.second))
    return pairs, np.array([alike[a, b] for a, b in upper])
