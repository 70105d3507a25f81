"""What a check raises when an answer is wrong."""

from dataclasses import replace
from typing import ClassVar

import torch

from grader.protocol.feedback import Fact, Feedback, Kind


class CheckFailure(AssertionError):
    """An answer failed a check, and `feedback` is what a learner reads of it.

    Args:
        told: what is wrong, in one line, or all of the feedback.
        likely: at most one likely cause.
        facts: texts under their names, in the order in which they are told.

    Example:
        def test_options(answer):
            names = answer.options().keys()
            if names != {"lr", "momentum"}:
                raise CheckFailure("wrong keys in options()", yours=", ".join(names), wanted="lr, momentum")
    """

    kind: ClassVar[Kind] = ""

    def __init__(self, told: str | Feedback, *, likely: str = "", **facts: str) -> None:
        if isinstance(told, str):
            named = tuple(Fact(name.replace("_", " "), value) for name, value in facts.items())
            told = Feedback(told, named, likely=likely)
        self.feedback = replace(told, kind=self.kind) if self.kind else told
        super().__init__(self.feedback)

    def __str__(self) -> str:
        return self.feedback.text


class Misuse(ValueError):
    """A suite uses a helper as it cannot be used: told as the suite's fault, whatever the answer does."""


class BrokenRule(CheckFailure):
    """An answer is written in a way that the statement rules out: told before any wrong number."""

    kind = "rule"


class Mismatch(CheckFailure):
    """Two values differ, and without a likely cause that is all there is to read."""

    kind = "values"


def why_cut(otherwise: str = "the graph is cut on the way") -> str:
    """Why a result has no graph, most likely."""
    if torch.is_grad_enabled():
        return f"{otherwise} (`.detach()`, `.data`, `.item()`, `no_grad`, NumPy)"
    return "gradients are still switched off; `with torch.no_grad():` switches them on again"
