"""What a check raises when an answer is wrong."""

import torch


class CheckFailure(AssertionError):
    """An answer failed a check. The message is the feedback: facts first, at most one likely cause.

    It is shown to the learner as it stands, so it holds whole lines without a traceback.

    Example:
        def test_options(answer):
            if answer.options().keys() != {"lr", "momentum"}:
                raise CheckFailure("options() has other keys than lr and momentum")
    """


class BrokenRule(CheckFailure):
    """An answer is written in a way that the statement rules out: told before any wrong number."""


def why_cut(otherwise: str = "the graph is cut on the way") -> str:
    """Why a result has no graph, most likely, as the last line of feedback."""
    if torch.is_grad_enabled():
        return f"  likely  {otherwise} (`.detach()`, `.data`, `.item()`, `no_grad`, NumPy)"
    return "  likely  gradients are still switched off; `with torch.no_grad():` switches them on again"
