"""What an answer and its checks are said to be: one table of signs, words and advice for every face."""

from typing import Final, Literal, NamedTuple, get_args

from grader.protocol.check import Outcome

State = Literal["done", "works", "known", "failing", "todo"]
"""Of an answer, for its learner. *works*: every check of the job passes, not all of the fine print; *done*:
all do.

*known* is a step that nobody did, of which an exercise that works says that it is not needed any more. It is
never what a judge has seen, and never kept.
"""
Status = Literal[
    "passed",
    "works",
    "partial",
    "failed",
    "todo",
    "broken",
    "timeout",
    "crashed",
    "memory",
    "tampered",
    "not_graded",
    "grader_fault",
]
"""Of an answer, as it is kept and graded; *passed* is what a learner calls *done*."""

STATES: tuple[State, ...] = get_args(State)
GRADES: tuple[Status, ...] = get_args(Status)


class Wording(NamedTuple):
    """A sign, since colour alone tells nothing; a few words; advice, where the score needs a sentence."""

    mark: str
    words: str
    advice: str = ""


STATUSES: Final[dict[State | Status | Outcome, Wording]] = {
    "done": Wording("✓", "done"),
    "passed": Wording("✓", "passed"),
    "works": Wording("+", "works, with fine print left"),
    "partial": Wording("◐", "partly passed"),
    "known": Wording("○", "known"),
    "failing": Wording("✗", "failing"),
    "failed": Wording("✗", "failed"),
    "todo": Wording("·", "to do"),
    "missing": Wording("–", "did not run"),
    "broken": Wording("!", "does not import", "The code does not import, so none of the checks could run."),
    "timeout": Wording(
        "!",
        "ran out of time",
        "The answer was still running when its time was over: an endless loop, or far too much work?",
    ),
    "crashed": Wording(
        "!",
        "crashed",
        "The answer ended the process that judged it: only checks known to have passed count.",
    ),
    "memory": Wording("!", "ran out of memory", "The answer asked for more memory than it may use."),
    "tampered": Wording(
        "!",
        "tampered with the checks",
        "The answer changed what judges it, so nothing of it counts.",
    ),
    "not_graded": Wording(
        "?",
        "not graded here",
        "The checks could not be run here. They neither earn nor cost points.",
    ),
    "grader_fault": Wording(
        "?",
        "not graded: a fault of the grader",
        "The grader failed, not the answer: nothing is earned or lost until it is judged.",
    ),
}

SOLVED: frozenset[State | Status] = frozenset({"done", "works", "passed"})
"""Whose checks of the job pass."""
SETTLED: frozenset[State] = frozenset({"done", "works", "known"})
"""What nobody need come back to."""
SCORED: frozenset[Status] = frozenset({"passed", "works", "partial", "failed"})
"""What was written and judged to the end: the score says how well."""
ENDED: tuple[Status, ...] = ("tampered", "crashed", "memory", "timeout", "broken")
"""What was not judged to the end by its own doing, the gravest first."""

LEGEND = "   ".join(f"{mark} {words}" for mark, words, _ in (STATUSES[s] for s in STATES if s != "known"))
