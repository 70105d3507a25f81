"""What the pages say about a record, and of a check's feedback."""

from dataclasses import dataclass

from markupsafe import Markup

from grader.diagnose.svg import squares
from grader.protocol.feedback import Feedback
from grader.protocol.statuses import STATUSES
from grader.records.records import ExerciseRecord

_UNREAD = "A person has to look at what was handed in: nothing is earned or lost until then."


@dataclass(frozen=True)
class FeedbackPart:
    """A piece of feedback: a fact under its name, a picture, or a line of text where there is no name."""

    name: str
    text: str
    picture: Markup | None = None


def advice(record: ExerciseRecord) -> str:
    """What the status means for the score, in a sentence; empty where it needs none."""
    if record.is_graded_by_hand:
        return ""
    is_unread = record.status == "not_graded" and not record.checks
    return _UNREAD if is_unread else STATUSES[record.status].advice


def by_hand(record: ExerciseRecord) -> str:
    """What a person has done to the score, in a few words; empty where that is nothing."""
    if record.by_hand is None:
        return ""
    extra = record.by_hand.extra_credit
    said = ["graded by hand"] if record.is_graded_by_hand else []
    return ", ".join([*said, f"{number(extra)} extra credit"] if extra else said)


def parts(feedback: Feedback) -> list[FeedbackPart]:
    """The feedback without what its page says anyway: the file's path."""
    found = [FeedbackPart("", feedback.headline)]
    if feedback.where and feedback.where.line:
        found += [FeedbackPart("", line.strip()) for line in feedback.where.lines]
    found += [FeedbackPart(fact.name, fact.text) for fact in feedback.facts]
    if feedback.heatmap:
        found.append(FeedbackPart("where", feedback.heatmap.note, Markup(squares(feedback.heatmap.rows))))
    return found + ([FeedbackPart("likely", feedback.likely)] if feedback.likely else [])


def number(value: float) -> str:
    """`2`, `1.5`, `0.33`: no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> int:
    """A share as a whole number of hundredths; 100 is all of it and 0 is nothing."""
    rounded = round(100 * share)
    if rounded == 100 and share < 1:
        return 99
    return 1 if rounded == 0 and share > 0 else rounded
