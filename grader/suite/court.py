"""All that the children of a warm suite inherit: its files, its tests, and how long they may take."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.core.packed import Files
from grader.engine.integrity.guard import Guard


@dataclass
class Court:
    """What is judged with: `tests` holds the ids of each file's tests, in their order.

    `given` is what students were handed out, and lies below what is theirs.

    `reference` is what the tests are collected with: a solution, or the adapters as the suite brings them.
    `talks`: a child gets a network, in which there is nobody else.
    """

    files: Files
    given: Files
    reference: Files
    config: str
    seconds: float
    confined: bool
    place: str
    talks: bool = False
    guard: Guard | None = None
    tests: dict[str, Sequence[str]] = field(default_factory=dict)
