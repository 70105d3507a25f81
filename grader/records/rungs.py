"""How far an answer is on the two rungs, the job and the fine print: its state, and the words for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from grader.protocol.check import Outcome

State = Literal["done", "works", "known", "failing", "todo"]
"""*works*: every check of the job passes, not all of the fine print; *done*: all do.

*known* is a step that nobody did, of which an exercise that works says that it is not needed any more. It is
never what a judge has seen, and never kept.
"""
MARKS: dict[State, str] = {"done": "✓", "works": "+", "known": "○", "failing": "✗", "todo": "·"}
LEGEND = "✓ done   + works, with fine print left   ✗ failing   · to do"
SOLVED: frozenset[State] = frozenset({"done", "works"})
"""Whose checks of the job pass."""
SETTLED: frozenset[State] = SOLVED | {"known"}
"""What nobody need come back to."""


@dataclass(frozen=True)
class Rungs:
    """How the checks went that ran here: those of the job, and those of the fine print."""

    job: tuple[Outcome, ...] = ()
    fine: tuple[Outcome, ...] = ()

    @classmethod
    def of(cls, found: Iterable[tuple[bool, Outcome]]) -> "Rungs":
        """From one pair for each check: whether it is fine print, and how it went."""
        everything = [(fine, outcome) for fine, outcome in found if outcome != "not_graded"]
        job, fine = (tuple(out for is_fine, out in everything if is_fine == on) for on in (False, True))
        return cls(job, fine)

    @property
    def state(self) -> State:
        lacking = [outcome for outcome in (*self.job, *self.fine) if outcome != "passed"]
        if self.job and all(outcome == "passed" for outcome in self.job):
            return "works" if lacking else "done"
        if "failed" in lacking or "timeout" in lacking:
            return "failing"
        return "todo" if lacking or not self.fine else "done"

    @property
    def words(self) -> str:
        """What is said of an answer that works: "it does its job, 9 of 9; fine print 4 of 7"."""
        return f"it does its job, {self.counts}"

    @property
    def counts(self) -> str:
        """How many checks passed: "9 of 9; fine print 4 of 7"."""
        counts = [_count(self.job)] if self.job else []
        return "; ".join([*counts, f"fine print {_count(self.fine)}"] if self.fine else counts)


NOTHING_RAN = Rungs()


def _count(outcomes: tuple[Outcome, ...]) -> str:
    return f"{outcomes.count('passed')} of {len(outcomes)}"
