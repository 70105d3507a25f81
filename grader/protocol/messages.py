"""What is asked about one answer, and what comes back: plain records, whoever judges."""

import json
import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course.catalog import Exercise

MOST_LINES = 10_000
"""More than judging one answer writes. A child can write millions, and each check looks for its own."""


@dataclass(frozen=True)
class Expected:
    """A check that an answer is to pass, what this machine lacks to run it, and whether it is fine print."""

    id: str
    title: str
    lacks: str | None
    fine: bool = False


@dataclass(frozen=True)
class Request:
    """One answer to judge; for `mode` and `only` see `grader.engine.child.Job`."""

    exercise: Exercise
    answer: bytes
    seed: int
    mode: str = "judge"
    shuffled: bool = False
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """What came back for one answer: the child's lines, and how it ended by the worker's word.

    `lost` is set where the grader itself failed to get an answer judged.
    """

    lines: tuple[dict[str, Any], ...] = ()
    exit: int = 0
    signal: int = 0
    timed_out: bool = False
    overflow: bool = False
    lost: str = ""

    @property
    def cut_short(self) -> bool:
        """Whether the child ended before its time and without a word why."""
        told = any(word in line for line in self.lines for word in _LAST_WORDS)
        return not (told or self.timed_out or self.overflow or self.lost)

    @property
    def fault(self) -> str:
        """Why the grader itself failed, or "". No answer can set `lost`; `trouble` comes from its process."""
        told = next((line["trouble"] for line in self.lines if "trouble" in line), None)
        if self.lost or told is None:
            return self.lost
        known = isinstance(told, str) and _TROUBLE.fullmatch(told)
        return f"judging it raised {told if known else 'an error'}"


_LAST_WORDS = ("done", "broken", "stopped", "tampered")


_TROUBLE = re.compile(r"\w{1,60} at [\w.]{1,60}:\d{1,6}", re.ASCII)


def last_word(error: Exception) -> dict[str, Any]:
    """What a child tells of an error that is no check's: ours, unless the answer has used up its memory."""
    if isinstance(error, MemoryError):
        return {"memory": True}
    where = traceback.extract_tb(error.__traceback__)[-1]
    return {"trouble": f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}"}


GARBLED: dict[str, Any] = {"garbled": True}
"""Stands for a line that no honest child writes."""

TOO_LARGE: dict[str, Any] = {"oracle_error": "on fresh inputs the answer returned too much to be compared"}
"""Stands for an oracle's result that nobody has room for."""

_KINDS = {"exit": int, "signal": int, "timed_out": bool, "overflow": bool, "lost": str}


def to_json(findings: Findings) -> str:
    """The findings as text, for a journey between machines."""
    ended = {name: getattr(findings, name) for name in _KINDS}
    try:
        return json.dumps({**ended, "lines": findings.lines})
    except RecursionError:
        return json.dumps({**ended, "lines": [GARBLED]})


def from_json(text: str) -> Findings:
    """Raises ValueError where the text holds anything but findings."""
    try:
        data = json.loads(text)
    except RecursionError:
        return Findings((GARBLED,))
    if not isinstance(data, dict) or data.keys() != {*_KINDS, "lines"}:
        raise ValueError("no findings")
    lines = data.pop("lines")
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        raise ValueError("no lines of findings")
    if not all(type(data[name]) is kind for name, kind in _KINDS.items()):
        raise ValueError("no word of how the child ended")
    return Findings(tuple(lines), **data)
