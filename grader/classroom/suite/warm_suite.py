"""All that the children of a suite's engine inherit: its files, its tests, and how long they may take."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.core.packed import Files
from grader.engine.integrity.guard import Guard


@dataclass
class WarmSuite:
    """What is judged with: `tests` holds the ids of each file's tests, in their order.

    `given` is what students were handed out, and lies below what is theirs. What the tests are collected with
    is no part of it: a solution would be found in memory.
    """

    files: Files
    given: Files
    config: str
    seconds: float
    place: str
    guard: Guard | None = None
    tests: dict[str, Sequence[str]] = field(default_factory=dict)

    def laid_in(self, root: Path) -> frozenset[str]:
        """The paths of its files, where they are laid out below `root`."""
        return frozenset(str(root / file) for file in self.files)
