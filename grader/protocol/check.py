"""A check that an answer is to pass, and how it went: in one word, with what there is to say about it."""

from dataclasses import dataclass
from typing import Literal

from grader.protocol.feedback import Feedback

Outcome = Literal["passed", "failed", "timeout", "todo", "not_graded", "missing"]
"""How a check went. *not_graded*: this machine lacks what it needs; *missing*: nobody told."""


@dataclass(frozen=True)
class CheckSpec:
    """A check that an answer is to pass, what this machine lacks to run it, and whether it is fine print."""

    id: str
    title: str
    lacks: str | None = None
    fine: bool = False


@dataclass(frozen=True)
class Finding:
    """How a check went, and the feedback where it did not pass.

    `is_rule` is true where the answer breaks a rule of the statement, `unwritten` names the function that
    says of itself that it is still to write, `printed` is what the answer printed meanwhile.
    """

    outcome: Outcome
    feedback: Feedback | None = None
    is_rule: bool = False
    unwritten: str = ""
    printed: str = ""
    seconds: float = 0.0
