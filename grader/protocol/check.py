"""A check that an answer is to pass, and how it went: in one word, with what there is to say about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from grader.protocol.feedback import Feedback

Outcome = Literal["passed", "failed", "timeout", "todo", "not_graded", "missing"]
"""How a check went. *not_graded*: this machine lacks what it needs; *missing*: nobody told."""

OUTCOMES = frozenset(get_args(Outcome)) - {"missing"}
"""What may be told of a check."""

MOST_SECONDS = 1e6
"""Longer than any check takes."""


def function(check: str) -> str:
    """`test_dtype` of the id `hidden::test_dtype[float16]`, and of pytest's, which begins with a path."""
    return check.split("::")[-1].split("[")[0]


def held(told: Iterable[tuple[str, Outcome]]) -> tuple[str, ...]:
    """Of functions and how their checks went, those that passed on all their inputs, each once."""
    passed: dict[str, bool] = {}
    for name, outcome in told:
        passed[name] = outcome == "passed" and passed.get(name, True)
    return tuple(name for name, is_held in passed.items() if is_held)


@dataclass(frozen=True)
class CheckSpec:
    """A check that an answer is to pass, what this machine lacks to run it, and whether it is fine print.

    `of` names the function of the answer that it is about, where it is about one alone; it `refuses` a
    solution that is broken so (`grader.authoring.breakages`).
    """

    id: str
    title: str
    lacks: str | None = None
    fine: bool = False
    of: str = ""
    refuses: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """`test_dtype` of `hidden::test_dtype[float16]`."""
        return function(self.id)

    def __post_init__(self) -> None:
        object.__setattr__(self, "refuses", tuple(self.refuses))  # JSON knows lists


@dataclass(frozen=True)
class Finding:
    """How a check went, and the feedback where it did not pass: from where it fails to all who tell of it.

    `unwritten` names the function that says of itself that it is still to write, `printed` is what the
    answer printed meanwhile. `by_clock`: somebody looked at a clock meanwhile.
    """

    outcome: Outcome
    feedback: Feedback | None = None
    unwritten: str = ""
    printed: str = ""
    seconds: float = 0.0
    by_clock: bool = False

    @property
    def is_rule(self) -> bool:
        """Whether the answer breaks a rule of the statement."""
        return self.feedback is not None and self.feedback.kind == "rule"

    def to_json(self) -> dict[str, Any]:
        """Plain data, one level deep but for the feedback."""
        return {**vars(self), "feedback": self.feedback and self.feedback.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Finding":
        """What `to_json` made, from whoever sent it: any other word than ours is a failure."""
        outcome: Any = text_of(data, "outcome")
        seconds: Any = data.get("seconds")  # JSON knows NaN and endless integers
        is_time = isinstance(seconds, (int, float)) and 0 <= seconds < MOST_SECONDS
        return cls(
            outcome if outcome in OUTCOMES else "failed",
            Feedback.from_json(data.get("feedback")),
            text_of(data, "unwritten"),
            text_of(data, "printed"),
            float(seconds) if is_time else 0.0,
            data.get("by_clock") is True,
        )


def text_of(data: Mapping[str, Any], name: str) -> str:
    """A text in a child's line; "" for anything else, which may be too deep or too long to be made a text."""
    value = data.get(name)
    return value if isinstance(value, str) else ""
