"""What the pages say about a status, and a check's feedback taken apart."""

import re
from dataclasses import dataclass

from markupsafe import Markup

from grader.course.catalog import Exercise
from grader.diagnose.svg import split_map, squares
from grader.protocol.check import Outcome
from grader.records.records import ExerciseRecord, Status

MARKS: dict[Status, tuple[str, str]] = {
    "passed": ("✓", "passed"),
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
    "broken": "The file does not import, so none of its checks could run.",
    "timeout": "The answer was still running when its time was over: an endless loop, or far too much work?",
    "crashed": "The answer ended the process that judged it, so only the checks before that count.",
    "memory": "The answer asked for more memory than it may use.",
    "tampered": "The answer changed what judges it, so nothing of it counts.",
    "not_graded": "This machine could not run the checks. They neither earn nor cost points.",
    "grader_fault": "The grader failed, not the answer: nothing is earned or lost until it is judged.",
}
_BOTH = re.compile(r"(?:at (.*): )?yours (.*), wanted (.*)")
_FACT = re.compile(r"  (\w[\w ]{0,8}?) {2,}(\S.*)")


@dataclass(frozen=True)
class Part:
    """A piece of feedback: a fact under its name, a picture, or a line of text where there is no name."""

    name: str
    text: str
    picture: Markup | None = None


def advice(record: ExerciseRecord) -> str:
    """What the status means for the score, in a sentence; empty where it needs none."""
    gates = [c for c in record.checks if not c.id.startswith("hidden::") and c.outcome != "not_graded"]
    if record.status in ("failed", "partial") and any(c.outcome != "passed" for c in gates):
        return "An exercise earns points only once all the checks marked as required pass."
    return _ADVICE.get(record.status, "")


def feedback(message: str, exercise: Exercise) -> list[Part]:
    """The message without what its page says anyway: the exercise, the file's path and the hint's command."""
    lines = message.splitlines()
    if lines and lines[0].startswith(f"{exercise.slug} · "):
        del lines[0]
    said = (exercise.relative, f"hint: kata hint {exercise.slug}")
    lines = [line for line in lines if not line.strip().endswith(said)]
    before, rows, after = split_map(lines)
    parts: list[Part] = []
    for line in before:
        _add(parts, line)
    if rows:
        last = parts.pop()  # the line that the map began on; it may tell nothing more
        note = last.text.strip("()") if last.name else ""
        parts.append(Part("where", note, Markup(squares(rows))))
    for line in after:
        _add(parts, line)
    return parts


def _add(parts: list[Part], line: str) -> None:
    """A line that begins a fact, goes on with it, or stands for itself."""
    if match := _FACT.fullmatch(line):
        if both := _BOTH.fullmatch(match[2]):
            parts += [Part(match[1], f"at {both[1]}")] if both[1] else []
            parts += [Part("yours", both[2]), Part("wanted", both[3])]
        else:
            parts.append(Part(match[1], match[2]))
    elif parts and parts[-1].name and line.startswith(" " * 8):
        last = parts.pop()
        parts.append(Part(last.name, f"{last.text}\n{line.strip()}"))
    elif line.strip():
        parts.append(Part("", line.strip()))


def likely(message: str) -> str:
    """The cause that a check's feedback names, or nothing."""
    return next((m[2] for m in map(_FACT.fullmatch, message.splitlines()) if m and m[1] == "likely"), "")


def number(value: float) -> str:
    """`2`, `1.5`, `0.33`: no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> int:
    """A share as a whole number of hundredths; 100 is all of it and 0 is nothing."""
    rounded = round(100 * share)
    if rounded == 100 and share < 1:
        return 99
    return 1 if rounded == 0 and share > 0 else rounded
