"""All that the children of a warm suite inherit: its files, its tests, and how long they may take."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.suite.tree import Files

GRACE = 2.0
"""Seconds beyond the limit of a test after which its process is ended: its own alarm can tell the line."""


IMPORT = 3.0
"""Times the limit of a test: what it may take until the first one begins, with all that is imported."""


@dataclass
class Court:
    """What is judged with: `tests` holds the ids of each file's tests, in their order.

    `reference` is what the tests are collected with: a solution, or the adapters as the suite brings them.
    """

    files: Files
    reference: Files
    config: str
    seconds: float
    confined: bool
    place: str
    tests: dict[str, Sequence[str]] = field(default_factory=dict)
