"""What the pages say about a status, and of a check's feedback."""

from dataclasses import dataclass

from markupsafe import Markup

from grader.diagnose.svg import squares
from grader.protocol.check import Outcome
from grader.protocol.feedback import Feedback
from grader.records.records import ExerciseRecord, Status

MARKS: dict[Status, tuple[str, str]] = {
    "passed": ("✓", "passed"),
    "works": ("✓", "works: does its job"),
    "partial": ("◐", "partly passed"),
    "failed": ("✗", "failed"),
    "todo": ("○", "to do"),
    "broken": ("!", "does not import"),
    "timeout": ("!", "ran out of time"),
    "crashed": ("!", "crashed"),
    "memory": ("!", "ran out of memory"),
    "tampered": ("!", "tampered with the checks"),
    "not_graded": ("?", "not graded here"),
    "grader_fault": ("?", "not graded: a fault of the grader"),
}
"""A sign and words for each status: colour alone tells nothing on these pages."""

KINDS: dict[Outcome, tuple[str, str]] = {
    "failed": ("✗", "failed"),
    "missing": ("–", "did not run"),
    "not_graded": ("?", "not graded here"),
    "passed": ("✓", "passed"),
}
"""The same for a check, the gravest first."""

_ADVICE: dict[Status, str] = {
    "broken": "The code does not import, so none of the checks could run.",
    "timeout": "The answer was still running when its time was over: an endless loop, or far too much work?",
    "crashed": "The answer ended the process that judged it: only checks known to have passed count.",
    "memory": "The answer asked for more memory than it may use.",
    "tampered": "The answer changed what judges it, so nothing of it counts.",
    "not_graded": "The checks could not be run here. They neither earn nor cost points.",
    "grader_fault": "The grader failed, not the answer: nothing is earned or lost until it is judged.",
}


@dataclass(frozen=True)
class Part:
    """A piece of feedback: a fact under its name, a picture, or a line of text where there is no name."""

    name: str
    text: str
    picture: Markup | None = None


def advice(record: ExerciseRecord) -> str:
    """What the status means for the score, in a sentence; empty where it needs none."""
    return "" if record.is_graded_by_hand else _ADVICE.get(record.status, "")


def by_hand(record: ExerciseRecord) -> str:
    """What a person has done to the score, in a few words; empty where that is nothing."""
    if record.by_hand is None:
        return ""
    extra = record.by_hand.extra_credit
    said = ["graded by hand"] if record.is_graded_by_hand else []
    return ", ".join([*said, f"{number(extra)} extra credit"] if extra else said)


def parts(told: Feedback) -> list[Part]:
    """The feedback without what its page says anyway: the file's path."""
    found = [Part("", told.headline)]
    if told.where and told.where.line:
        found += [Part("", line.strip()) for line in told.where.lines]
    found += [Part(fact.name, fact.text) for fact in told.facts]
    if told.heatmap:
        found.append(Part("where", told.heatmap.note, Markup(squares(told.heatmap.rows))))
    return found + ([Part("likely", told.likely)] if told.likely else [])


def number(value: float) -> str:
    """`2`, `1.5`, `0.33`: no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> int:
    """A share as a whole number of hundredths; 100 is all of it and 0 is nothing."""
    rounded = round(100 * share)
    if rounded == 100 and share < 1:
        return 99
    return 1 if rounded == 0 and share > 0 else rounded
