"""The bugs that a capstone may have, as its row tells of them: hints for each, and which hides another.

[exercise.broken_gpt.bugs]
future = ["a later token changes what comes before it", "compare two inputs", "the mask, in model.py"]
hides = [["future", "shift"]]
"""

from dataclasses import dataclass
from typing import Any

HIDES = "hides"
HINTS = 3
"""For each bug: its symptom, the instrument that shows more of it, the place."""

FORM = (
    'a table with name = ["symptom", "instrument", "place"] for each bug, and hides = [["one", "another"]] '
    "where the second shows once the first is mended"
)


@dataclass(frozen=True)
class BugPool:
    """Hints by the names of bugs, in their order, and pairs of names of which the first hides the second."""

    hints: tuple[tuple[str, tuple[str, ...]], ...] = ()
    hides: tuple[tuple[str, str], ...] = ()
    start: str = ""
    """The digest of the start that lies in the course, the variant of number 0."""
    handed_out: frozenset[str] = frozenset()
    """The digests of others that students were given."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.hints)

    def hints_for(self, name: str) -> tuple[str, ...]:
        """What is said of one bug, from its symptom to its place."""
        return dict(self.hints).get(name, ())


def read(row: dict[str, Any], start: str) -> BugPool:
    """The pool of a sound table, of an exercise with this start."""
    hints = ((name, tuple(told)) for name, told in row.items() if name != HIDES)
    return BugPool(tuple(hints), tuple((first, second) for first, second in row.get(HIDES, ())), start)


def is_sound(row: Any) -> bool:
    """Whether a table has the form of a pool."""
    return isinstance(row, dict) and all(
        all(_are_texts(pair, 2) for pair in told)
        if name == HIDES and isinstance(told, list)
        else _are_texts(told, HINTS)
        for name, told in row.items()
    )


def _are_texts(told: Any, count: int) -> bool:
    return isinstance(told, list) and len(told) == count and all(isinstance(one, str) for one in told)
