"""What came of judging one answer: a child's lines, read once, and how it ended.

The answer ran in the process that wrote the lines, so they may hold anything. What is read here holds texts,
numbers and flags where they belong, and what the oracle returned as it came: whoever compares it takes care.
"""

import json
import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from grader.protocol.check import OUTCOMES, CheckSpec, Finding, text_of
from grader.protocol.feedback import Feedback

_T = TypeVar("_T")

MOST_LINES = 10_000
"""More than judging one answer writes. A child can write millions, and each may be another check's."""

GARBLED: dict[str, Any] = {"garbled": True}
"""Stands for a line that no honest child writes."""

TOO_LARGE: dict[str, Any] = {"oracle_error": "on fresh inputs the answer returned too much to be compared"}
"""Stands for an oracle's result that nobody has room for."""

LastWord = Literal["tampered", "stopped", "broken", "done", ""]
"""With what a child ends: the checks rely on something that the answer has changed, a check took too long,
the answer does not import, all was judged. "" where it did not come to say anything."""


@dataclass(frozen=True)
class Ended:
    """How a child ended, by the worker's word and not by its own.

    `waited`: seconds in which it did not compute.
    `overflow` is true where it wrote more than was read. `lost` says why the grader failed to get an answer
    judged.
    """

    exit: int = 0
    signal: int = 0
    timed_out: bool = False
    waited: float = 0.0
    overflow: bool = False
    lost: str = ""


@dataclass(frozen=True)
class Transcript:
    """What came of judging one answer.

    `checks` holds what was told of each check, by its id: `of` says more. The oracles hold what these
    returned (`grader.protocol.oracle_codec`, or anything), None where they did not. `broken` says
    why the answer does not import, `printed` what it printed while it was imported. `collected`: a suite's
    tests were found, so that the answer was imported; `importing`: what has not ended to be imported.
    `memory`: it has used up its memory. `trouble` is an error of ours, in our words, and `forged` why no
    honest child can have written this.
    """

    checks: Mapping[str, Finding] = field(default_factory=dict)
    oracle: Any = None
    fine_oracle: Any = None
    example_oracle: Any = None
    oracle_error: str = ""
    last_word: LastWord = ""
    broken: Feedback | None = None
    printed: str = ""
    collected: bool = False
    importing: str = ""
    memory: bool = False
    trouble: str = ""
    forged: str = ""
    ended: Ended = Ended()

    def of(self, spec: CheckSpec) -> Finding:
        """How this check went, if it could run here and anybody told."""
        if spec.lacks:
            return Finding("not_graded", Feedback(spec.lacks))
        return self.checks.get(spec.id) or Finding("missing", self.broken)

    @property
    def cut_short(self) -> bool:
        """Whether the child ended before its time and without a word why."""
        ended = self.ended
        return not (self.last_word or ended.timed_out or ended.overflow or ended.lost)

    @property
    def is_whole(self) -> bool:
        """Whether all checks were run, or all up to one that took too long, which says where."""
        is_done = self.last_word == "done" and not (self.fault or self.ended.timed_out)
        return is_done or self.last_word == "stopped"

    @property
    def fault(self) -> str:
        """Why the grader itself failed, or "". No answer can set `lost`; `trouble` comes from its process."""
        return self.ended.lost or self.trouble


def lost(reason: str) -> Transcript:
    """What came of an answer that nobody could judge."""
    return Transcript(ended=Ended(lost=reason))


def joined(oracle: Transcript, checks: Transcript) -> Transcript:
    """What came of an answer of which one process asked the oracle, and another one ran the checks."""
    one, other = oracle.ended, checks.ended
    ended = Ended(
        exit=other.exit or one.exit,
        signal=other.signal or one.signal,
        timed_out=other.timed_out or one.timed_out,
        waited=one.waited + other.waited,
        overflow=other.overflow or one.overflow,
        lost=other.lost or one.lost,
    )
    return replace(
        checks,
        oracle=oracle.oracle,
        fine_oracle=oracle.fine_oracle,
        example_oracle=oracle.example_oracle,
        oracle_error=oracle.oracle_error,
        last_word="" if oracle.cut_short else checks.last_word,
        memory=checks.memory or oracle.memory,
        trouble=checks.trouble or oracle.trouble,
        forged=checks.forged or oracle.forged,
        ended=ended,
    )


def read(lines: Sequence[dict[str, Any]], ended: Ended = Ended()) -> Transcript:
    """What a child's lines tell. Where several tell the same, the first does."""
    looked_at = lines[:MOST_LINES]
    checks: dict[str, Finding] = {}
    told: dict[str, Any] = {}
    for line in looked_at:
        if "check" in line:
            checks.setdefault(text_of(line, "check"), Finding.from_json(line))
        else:
            for name, value in line.items():
                told.setdefault(name, value)
    return Transcript(
        checks,
        _named(told, "oracle"),
        _named(told, "fine_oracle"),
        _named(told, "example_oracle"),
        text_of(told, "oracle_error"),
        next((word for word in get_args(LastWord) if word in told), ""),
        Feedback.from_json(told.get("feedback")) if "broken" in told else None,
        text_of(told, "printed"),
        told.get("collected") is True,
        _importing(looked_at),
        any(line.get("memory") for line in looked_at),
        _trouble(told),
        _forged(lines, told, ended),
        ended,
    )


def _importing(lines: Sequence[Mapping[str, Any]]) -> str:
    """The last module of which was told that it is being imported, and not that it was."""
    under_way: list[str] = []
    for line in lines:
        if "importing" in line:
            under_way.append(text_of(line, "importing"))
        elif (name := text_of(line, "imported")) in under_way:
            under_way.remove(name)
    return under_way[-1] if under_way else ""


ORACLES = ("oracle", "fine_oracle", "example_oracle")
"""Under these names stands whatever an answer returned, and under `oracle_cases` … the names of cases."""


def _named(lines: Mapping[str, Any], kind: str) -> Any:
    """What this oracle gave; of cases, whose names were told before the answer was called, a dict of them."""
    results, names = lines.get(kind), lines.get(f"{kind}_cases")
    if isinstance(results, list) and isinstance(names, list) and len(results) == len(names):
        return ["d", [[name, result] for name, result in zip(names, results, strict=True)]]
    return results


_TAMPERED = re.compile(
    r"replaces [\w./-]{1,120}|hooks into Python by [\w.]{1,40}|breaks comparisons \(\w{1,60}\)"
    r"|makes (torch\.\w{1,20}|== of tensors) lie|makes == of its own class lie \([\w.<>]{1,120}\)"
    r"|makes a (check|comparison) pass that must fail",
    re.ASCII,
)
"""What `grader.engine.integrity` tells; other words are the answer's own, and no flag."""


_WROTE = "wrote to the channel that carries results"


def _forged(lines: Sequence[dict[str, Any]], told: Mapping[str, Any], ended: Ended) -> str:
    """Why this cannot be what an honest child writes, or an empty text."""
    if "tampered" in told:
        known = _TAMPERED.fullmatch(text_of(told, "tampered"))
        return known[0] if known else "changes what judging relies on"
    if any("trouble" in line for line in lines[:-1]):
        return "claims that the grader failed"  # which would be the last word
    if ended.overflow:
        return "wrote more results than judging does"
    if len(lines) > MOST_LINES or "garbled" in told:
        return _WROTE
    checks = sum("check" in line for line in lines)
    ids = {text_of(line, "check") for line in lines if "check" in line}
    if len(ids) < checks or any(sum(name in line for line in lines) > 1 for name in ORACLES):
        return "results arrived twice"
    return ""


_TROUBLE = re.compile(r"\w{1,60} at [\w.]{1,60}:\d{1,6}", re.ASCII)


def _trouble(told: Mapping[str, Any]) -> str:
    if "trouble" not in told:
        return ""
    text = text_of(told, "trouble")
    return f"judging it raised {text if _TROUBLE.fullmatch(text) else 'an error'}"


def line_of(error: Exception) -> dict[str, Any]:
    """What a child tells of an error that is no check's: ours, unless the answer has used up its memory."""
    if isinstance(error, MemoryError):
        return {"memory": True}
    where = traceback.extract_tb(error.__traceback__)[-1]
    return {"trouble": f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}"}


def to_json(transcript: Transcript) -> str:
    """The transcript as text, for a journey between machines."""
    try:
        return json.dumps(transcript, default=vars)
    except RecursionError:
        return json.dumps(_without_oracles(transcript), default=vars)


def _without_oracles(transcript: Transcript) -> Transcript:
    return replace(transcript, oracle=None, fine_oracle=None, example_oracle=None, forged=_WROTE)


def from_json(text: str) -> Transcript:
    """Raises ValueError where the text holds anything but a transcript."""
    try:
        data = json.loads(text)
    except RecursionError:
        return Transcript(forged=_WROTE)
    whole = _like(Transcript(), data)
    found = {id: _like(Finding("failed"), finding) for id, finding in whole.checks.items()}
    checks = {id: replace(finding, feedback=_feedback(finding.feedback)) for id, finding in found.items()}
    words = {finding.outcome for finding in checks.values()}
    if whole.last_word not in get_args(LastWord) or not words <= OUTCOMES:
        raise ValueError("no words of ours")
    return replace(whole, checks=checks, broken=_feedback(whole.broken), ended=_like(Ended(), whole.ended))


def _feedback(data: object) -> Feedback | None:
    feedback = Feedback.from_json(data)
    if feedback is None and data is not None:
        raise ValueError("no feedback")
    return feedback


def _like(blank: _T, data: Any) -> _T:
    """A record like `blank` of this data, which has values of the same kinds; anything, where that has None.

    Raises ValueError where it has not.
    """
    if not isinstance(data, dict) or data.keys() != vars(blank).keys():
        raise ValueError(f"no {type(blank).__name__}")
    for name, value in vars(blank).items():
        kind = dict if is_dataclass(value) else type(value)
        if type(data[name]) is not kind and value is not None:
            raise ValueError(f"{name} is no {kind.__name__}")
    return type(blank)(**data)
