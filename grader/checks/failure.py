"""The one exception that a check raises when an answer is wrong."""

import torch


class CheckFailure(AssertionError):
    """An answer failed a check. The message is the feedback: facts first, at most one likely cause.

    It is shown to the learner as it stands, so it holds whole lines without a traceback.
    """


def why_cut() -> str:
    """Why a result has no graph, most likely, as the last line of feedback."""
    if torch.is_grad_enabled():
        return "  likely  the graph is cut on the way (`.detach()`, `.data`, `.item()`, `no_grad`, NumPy)"
    return "  likely  gradients are still switched off; `with torch.no_grad():` switches them on again"
