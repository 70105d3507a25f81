"""What Python and torch complain of, in a learner's words."""

import re
import textwrap
from collections.abc import Callable

import torch

from grader.checks.failure import why_cut
from grader.core.sanitize import message_of, plain
from grader.diagnose.describe import describe, without_addresses
from grader.diagnose.idioms import Site, cause_of_error, sure_cause
from grader.protocol.feedback import Fact, Feedback

LONG_ERROR, ERROR_COLUMNS = 160, 120
SUSPECT = "suspect"
"""An error's attribute: the mistake in words that raises the very same."""


def likely(error: BaseException, site: Site | None = None) -> str:
    """What an error comes from, where there is something to say.

    What a line tells by itself comes before a mistake that raises the same.
    """
    if told := sure_cause(error, site):
        return told
    suspect = getattr(error, SUSPECT, None)
    return suspect if isinstance(suspect, str) else cause_of_error(error, site)


def unusable(error: BaseException) -> Feedback:
    """What is told of an error that came up in the check's own lines, in its backward, say."""
    if isinstance(error, RuntimeError):
        text = message_of(error)
        for words, (told, why) in _IN_WORDS.items():
            if words in text:
                said = (Fact("error", error_line(error)),)
                return Feedback(told, said, likely=why() if why else likely(error), kind="error")
        if "Error(s) in loading state_dict" in text:
            return _unloadable(text)
    if isinstance(error, AttributeError) and error.name and error.obj is not None:
        what = f"`.{error.name}` is missing: what your code gave the check is {describe(error.obj)}"
        is_several = isinstance(error.obj, (tuple, list)) and hasattr(torch.Tensor, error.name)
        several = "several things came back, where one tensor is wanted: `return` the one of them"
        return Feedback(what, likely=several if is_several else "", kind="values")
    what = f"the check could not use what your code gave it: {error_line(error)}"
    called = (
        re.search(r"'(\w+)' object is not callable", message_of(error))
        if isinstance(error, TypeError)
        else None
    )
    too_soon = (
        f"a {called[1]} came back where something to call is wanted: called too soon?" if called else ""
    )
    return Feedback(what, likely=too_soon or likely(error), kind="values")


def _unloadable(text: str) -> Feedback:
    """Names, or shapes, that are not those of a check's state dict."""
    facts = _keys(text)
    what = "names" if facts[0].name in ("extra", "lacks") else "shapes"
    found = _SIZES.search(text) if what == "shapes" else None
    wanted, yours = (found[n].strip("[]").split(", ") if found else [] for n in (2, 3))
    is_turned = bool(found) and yours == wanted[::-1]
    return Feedback(
        f"your code's parameters and buffers have other {what} than they should",
        tuple(facts),
        likely="its dims have changed places" if is_turned else "",
    )


def _keys(text: str) -> list[Fact]:
    """What a check's state dict lacks is too many in the answer, and the reverse."""
    named = {"extra": "Missing key", "lacks": "Unexpected key"}
    keys = {
        fact: re.findall(rf"{words}\(s\) in state_dict: (.*?)\. ?$", text, re.M)
        for fact, words in named.items()
    }
    if told := [Fact(fact, found[0].replace('"', "")) for fact, found in keys.items() if found]:
        return told
    if found := _SIZES.search(text):
        return [Fact("yours", f"{found[1]} {found[3]}"), Fact("wanted", f"{found[1]} {found[2]}")]
    return [Fact("error", line.strip()) for line in text.splitlines()[1:3]]


_SIZES = re.compile(
    r"size mismatch for (\S+): copying .* shape torch.Size\((.*?)\) from .* torch.Size\((.*?)\)"
)


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
    lines = _FOLDERS.sub("", without_addresses(plain(message_of(error)[:9999]))).strip().splitlines()
    short = [part for line in lines[:3] for part in _wrapped(line)][:3]
    return f"{type(error).__name__}: " + "\n".join(short) if short else type(error).__name__


_FOLDERS = re.compile(r"(?<![\w.])(?:/[\w.+-]+)+/(?=[\w+-]+\.py\b)")
"""The folders of Python files, as in what asyncio says of a task."""


def _wrapped(line: str) -> list[str]:
    return [line] if len(line) <= LONG_ERROR else textwrap.wrap(line[:999], ERROR_COLUMNS)
