"""From how ranks ended to the lines that a learner reads."""

import linecache
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.checks.distributed.places import RankPlace, locate
from grader.checks.distributed.process import RankEnding
from grader.checks.failure import CheckFailure
from grader.course import paths
from grader.protocol.feedback import Fact, Feedback, Where

_LOST = ("closed by peer", "reset by peer", "Broken pipe")
_LIKELY = "not every rank makes the same calls in the same order"
_OUTSIDE = "not every rank is in your code"
_AT_ONE_CALL = {
    "recv": "nobody has sent: a send comes after the receive, or is never waited for",
    "send": "nobody receives, as all send first, and wait until it is taken: isend goes on at once",
    "broadcast": "nobody gets what it waits for: is src, the rank that sends, the same on all ranks?",
}
"""What all ranks wait for in the same call."""
_ABORTED = "it got more than it expected, which ends gloo: ranks differ in calls, shapes or dtypes"


class RankFailure(CheckFailure):
    """A rank raised, died, or waits for one that does not come.

    Example:
        def empty(rank, world_size, answer):
            answer.all_mean(torch.ones(0))


        @pytest.mark.multi_process
        def test_empty_input(answer):
            with pytest.raises(RankFailure, match="ValueError"):
                run_ranks(2, empty, answer=answer)
    """


class RankTodo(NotImplementedError):
    """A rank reached a stub of the answer."""


@dataclass
class _Same:
    """Ranks that ended the same way at the same line."""

    ending: RankEnding
    place: RankPlace
    ranks: list[int]

    @property
    def who(self) -> str:
        *rest, last = map(str, self.ranks)
        return f"ranks {', '.join(rest)} and {last}" if rest else f"rank {last}"

    @property
    def waits(self) -> str:
        return "wait" if len(self.ranks) > 1 else "waits"

    @property
    def does(self) -> str:
        many = len(self.ranks) > 1
        ending, wait = self.ending, self.place.wait
        if ending.state == "left":
            return "have left" if many else "has left"
        if ending.state == "died":
            return f"died with {_status(ending.status)}"
        if ending.state == "raised":
            where = f" in {wait}" if wait else ""
            return (
                f"lost {'their' if many else 'its'} connection{where}"
                if _is_lost(ending)
                else f"raised {ending.error}"
            )
        if wait:
            return f"{self.waits} at `{wait}`" if "(" in wait and "." in wait else f"{self.waits} in {wait}"
        return "are still running" if many else "is still running"

    def where(self) -> Where:
        source = linecache.getline(self.place.file, self.place.line).strip()
        return Where(paths.shown(Path(self.place.file)), self.place.line, source)


def failure_of(endings: Sequence[RankEnding], answer: str, timeout: float) -> RankFailure | RankTodo | None:
    """What to raise for a run, or None where every rank returned. `answer` is the answer's file."""
    if all(ending.state == "left" for ending in endings):
        return None
    if todo := next((ending for ending in endings if ending.todo), None):
        return RankTodo(f"{Path(todo.frames[-1].file).name} is not written yet")
    for rank, ending in enumerate(endings):
        if ending.check:
            return RankFailure(ending.check.prefixed(f"rank {rank}: "))
    groups = _grouped(endings, answer)
    culprit = next((g for g in groups if g.ending.state == "died"), None) or next(
        (g for g in groups if g.ending.state == "raised" and not _is_lost(g.ending)), None
    )
    return RankFailure(_fault(culprit, groups) if culprit else _hang(groups, timeout))


def _grouped(endings: Sequence[RankEnding], answer: str) -> list[_Same]:
    groups: dict[object, _Same] = {}
    for rank, ending in enumerate(endings):
        place = locate(ending.frames, answer)
        key = (ending.state, ending.error, ending.status, place)
        groups.setdefault(key, _Same(ending, place, [])).ranks.append(rank)
    return list(groups.values())


def _fault(culprit: _Same, groups: list[_Same]) -> Feedback:
    """One rank raised or died: that first, then what the others did."""
    others = []
    for group in groups:
        if group is not culprit:
            at = f" at line {group.place.line}" if group.place.line else ""
            others.append(Fact("", f"{group.who} {group.does.splitlines()[0]}{at}"))
    status = culprit.ending.status
    is_aborted = (
        culprit.ending.state == "died" and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGABRT
    )
    return Feedback(
        f"{culprit.who} {culprit.does}",
        tuple(others),
        likely=_ABORTED if is_aborted else culprit.ending.likely,
        where=culprit.where() if culprit.place.line else None,
    )


def _hang(groups: list[_Same], timeout: float) -> Feedback:
    """Nobody did anything wrong by itself: who waits, and who is gone."""
    ordered = sorted(groups, key=lambda g: g.ending.state == "left")
    is_stuck = all(g.place.wait for g in groups if g.ending.state == "stopped")
    late = "" if is_stuck else f"not finished after {timeout:.0f} s: "
    said = late + "; ".join(f"{g.who} {g.does}" for g in ordered)
    facts = tuple(Fact("", f"{g.who}{g.where().lines[0]}") for g in ordered if g.place.line)
    return Feedback(said, facts, likely=_likely(groups) if is_stuck else "")


def _likely(groups: list[_Same]) -> str:
    """Why nobody goes on: not that calls differ, where all ranks stand at the same one."""
    waiting = [g for g in groups if g.ending.state == "stopped"]
    if len(groups) == 1:
        return _AT_ONE_CALL.get(waiting[0].place.wait.removeprefix("i"), "")
    inside = [g for g in waiting if g.place.line]
    outside = [g for g in waiting if not g.place.line]
    if len(groups) == 2 and len(inside) == len(outside) == 1:
        who = f"{outside[0].who} no longer, or not yet; {inside[0].who}"
        return (
            f"{_OUTSIDE}: {who} {inside[0].waits} there for all\n"
            "some ranks wait too early or too often there, or the others leave too soon"
        )
    return _LIKELY


def _is_lost(ending: RankEnding) -> bool:
    """Whether the other side of a connection went away: a consequence, not a cause."""
    return any(words in ending.error for words in _LOST)


def _status(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return f"exit status {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    names = {s.value: s.name for s in signal.Signals}
    return f"signal {number} ({names.get(number, 'unknown')})"
