"""Which of the checks that failed is told first: one order, and one line lent, for every face."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from grader.protocol.feedback import Feedback

_T = TypeVar("_T")


def best_first(
    failed: Iterable[_T], of: Callable[[_T], tuple[bool, Feedback | None]]
) -> list[tuple[_T, Feedback | None]]:
    """All that failed, each with what is told of it, in the order in which it is told.

    The job comes before the fine print, and in each of them what names the mistake before what does not:
    the first is what most learners read. Where the very same cause explains how an earlier check fails,
    mostly the worked example, which proves too little to tell it, that one comes first and is lent the line.
    Where several suspects explain the first as well, it is told the one that others bear out. A suspect that
    fits all of several checks, none of which proves it, is told.

    Args:
        failed: what failed, in the order of the suites, the worked example first.
        of: whether a check is fine print, and its feedback.
    """
    found = [_Failed(each, *of(each)) for each in failed]
    order = sorted(found, key=lambda one: (one.fine, _rank(one.feedback)))
    if order and order[0].feedback:
        first, feedback = _first([one for one in found if one.fine == order[0].fine], order[0])
        order = [replace(first, feedback=feedback), *(one for one in order if one is not first)]
    return [(one.check, one.feedback) for one in order]


@dataclass(frozen=True)
class _Failed(Generic[_T]):
    check: _T
    fine: bool
    feedback: Feedback | None


def _first(rung: Sequence[_Failed[_T]], best: _Failed[_T]) -> tuple[_Failed[_T], Feedback | None]:
    """Which check of a rung comes first, and what is told of it, where this one names its cause best."""
    said = best.feedback
    assert said is not None
    if not said.likely:
        common = _common([one.feedback.suspects for one in rung if one.feedback and one.feedback.suspects])
        return best, replace(said, likely=common) if common and said.suspects else said
    others = [one.feedback for one in rung if one.feedback and one is not best]
    elsewhere = [feedback.likely for feedback in others if feedback.names_cause]
    borne_out = [cause for cause in said.suspects if cause in elsewhere]
    if borne_out and said.likely not in elsewhere:
        return best, replace(said, likely=borne_out[0])
    for one in rung[: rung.index(best)]:
        if one.feedback and (line := _fitting(said.likely, one.feedback)):
            return one, replace(one.feedback, likely=line, kind=said.kind)
    return best, said


def _common(suspects: Sequence[Sequence[str]]) -> str:
    """The first suspect that fits all of several checks, each of which proves too little to tell it."""
    first, *others = suspects or [()]
    return next((told for told in first if others and all(told in other for other in others)), "")


def _rank(feedback: Feedback | None) -> int:
    """How little it says of the mistake. What a check says in words of its own ranks with bare numbers."""
    if feedback is None:
        return 6
    if feedback.kind in ("rule", "slip"):
        return 0 if feedback.kind == "rule" else 1
    if feedback.names_cause:
        return 2 if feedback.likely else 3
    return 4 if feedback.likely else 5


def _fitting(cause: str, feedback: Feedback) -> str:
    """The cause as this feedback would tell it, with its own sizes; "" where it does not fit there."""
    known = (*feedback.suspects, *feedback.fits)
    return next((fit for fit in known if same_but_sizes(fit) == same_but_sizes(cause)), "")


def same_but_sizes(text: str) -> str:
    """A text without its numbers, which differ with each check's inputs."""
    return re.sub(r"\d+", "#", text)
