"""What Python and torch complain of, in a learner's words."""

import re
import textwrap
from collections.abc import Callable

from grader.checks.failure import why_cut
from grader.diagnose.causes import cause_of_error
from grader.diagnose.describe import describe, without_addresses
from grader.protocol.feedback import Fact, Feedback

LONG_ERROR, ERROR_COLUMNS = 160, 120
SUSPECT = "suspect"
"""An error's attribute: the mistake in words that raises the very same."""


def likely(error: BaseException) -> str:
    """What an error comes from, where there is something to say."""
    suspect = getattr(error, SUSPECT, None)
    return suspect if isinstance(suspect, str) else cause_of_error(error) or ""


def unusable(error: BaseException) -> Feedback:
    """What is told of an error that came up in the check's own lines, in its backward, say."""
    if isinstance(error, RuntimeError):
        text = str(error)
        for words, (told, why) in _IN_WORDS.items():
            if words in text:
                said = (Fact("error", error_line(error)),)
                return Feedback(told, said, likely=why() if why else likely(error))
        if "Error(s) in loading state_dict" in text:
            what = "your code's parameters and buffers have other names than they should"
            return Feedback(what, tuple(_keys(text)))
    if isinstance(error, AttributeError) and error.name and error.obj is not None:
        what = f"`.{error.name}` is missing: what your code gave the check is {describe(error.obj)}"
        return Feedback(what)
    what = f"the check could not use what your code gave it: {error_line(error)}"
    return Feedback(what, likely=likely(error))


def _keys(text: str) -> list[Fact]:
    """What a check's state dict lacks is too many in the answer, and the reverse."""
    named = {"extra": "Missing key", "lacks": "Unexpected key"}
    keys = {
        fact: re.findall(rf"{words}\(s\) in state_dict: (.*?)\. ?$", text, re.M)
        for fact, words in named.items()
    }
    told = [Fact(fact, found[0].replace('"', "")) for fact, found in keys.items() if found]
    return told or [Fact("error", line.strip()) for line in text.splitlines()[1:3]]


_IN_WORDS: dict[str, tuple[str, Callable[[], str] | None]] = {
    "does not require grad and does not have a grad_fn": (
        "no gradient flows through what your code gave back",
        lambda: why_cut(
            "nothing that it is computed from requires a gradient, or the graph is cut on the way"
        ),
    ),
    "appears to not have been used in the graph": (
        "no gradient flows to a tensor on which what your code gave back should depend",
        lambda: why_cut("it is not used there, or the graph is cut on the way"),
    ),
    "modified by an inplace operation": (
        "backward fails: a tensor that it needs was changed in place after it had been used",
        None,
    ),
    "returned an invalid gradient": ("backward fails: it gives a gradient that does not fit its input", None),
    "refers to a single memory location": (
        "what your code gave back cannot be written to: several of its elements share one place in memory",
        lambda: "an expanded tensor (`expand`, `broadcast_to`) that was not copied",
    ),
    "modified inplace": ("backward fails: a view that belongs to the graph was changed in place", None),
}
"""What torch says when a check uses a result, in autograd most of all, and what a learner can make of it."""


def error_line(error: BaseException) -> str:
    """Type and message, at most three lines of it; long lines are wrapped, as shapes come last in many."""
    try:
        lines = _FOLDERS.sub("", without_addresses(str(error)[:9999])).strip().splitlines()
    except Exception:
        lines = ["(its message cannot be shown)"]
    short = [part for line in lines[:3] for part in _wrapped(line)][:3]
    return f"{type(error).__name__}: " + "\n".join(short) if short else type(error).__name__


_FOLDERS = re.compile(r"(?<![\w.])(?:/[\w.+-]+)+/(?=[\w+-]+\.py\b)")
"""The folders of Python files, as in what asyncio says of a task."""


def _wrapped(line: str) -> list[str]:
    return [line] if len(line) <= LONG_ERROR else textwrap.wrap(line[:999], ERROR_COLUMNS)
