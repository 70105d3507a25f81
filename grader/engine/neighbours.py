"""What an answer that is judged at the same time may have brought about: then judging it alone tells more.

Answers share a machine and one user's quotas: processors, memory, descriptors under way, pages for pipes.
Where none is left, there is an error of the system, a wait or an end; wrong values come from nobody else.
"""

import errno
import os
import re
from collections.abc import Iterator
from typing import Any

from grader.core.timeout import TooSlow
from grader.protocol.feedback import Feedback
from grader.protocol.transcript import ORACLES, Transcript

_WAITED = 2.0
"""Seconds in which an answer that took too long did not compute: an endless loop has nobody to blame."""

_RUN_OUT = (
    *(errno.EAGAIN, errno.EBUSY, errno.EDQUOT, errno.EINTR, errno.EIO, errno.EMFILE, errno.ENFILE),
    *(errno.ENOBUFS, errno.ENOLCK, errno.ENOMEM, errno.ENOSPC, errno.EPIPE, errno.ETIMEDOUT),
    errno.ETOOMANYREFS,
)
_OF_THE_SYSTEM = re.compile(
    "|".join([r"\[Errno ", "timed out", "start new thread", "DataLoader worker", *map(os.strerror, _RUN_OUT)])
)
"""Python's and torch's words for what the system refused, in an error of whatever name."""

_NAME = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_OWN = frozenset(
    """
    ArithmeticError AssertionError AttributeError FloatingPointError ImportError IndentationError IndexError
    KeyError LookupError ModuleNotFoundError NameError NotImplementedError OverflowError RecursionError
    RuntimeError SyntaxError TabError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError
    ValueError ZeroDivisionError
    """.split()  # noqa: SIM905
)
"""What mistakes in a program raise. Where a system has run out of something, there are many others."""


def may_have_caused(transcript: Transcript) -> bool:
    """Whether a neighbour may have had a part in what came of an answer."""
    if transcript.forged:
        return False
    if transcript.cut_short or transcript.memory:
        return True
    late = transcript.last_word == "stopped" or transcript.oracle_error.startswith(TooSlow.__name__)
    if (late or transcript.ended.timed_out) and transcript.ended.waited > _WAITED:
        return True
    return any(_OF_THE_SYSTEM.search(text) or set(_NAME.findall(text)) - _OWN for text in _errors(transcript))


def _errors(transcript: Transcript) -> Iterator[str]:
    """What is told of what failed."""
    yield transcript.oracle_error
    told = [finding.feedback for finding in transcript.checks.values() if finding.outcome == "failed"]
    for feedback in filter(None, (transcript.broken, *told)):
        yield from _texts(feedback)
    for kind in ORACLES:
        yield from _raised(getattr(transcript, kind))


def _texts(feedback: Feedback) -> Iterator[str]:
    yield feedback.headline
    yield from (fact.text for fact in feedback.facts)


def _raised(told: Any) -> Iterator[str]:
    """What the cases of an oracle raised; it may have told anything (`grader.protocol.oracle_codec`)."""
    match told:
        case ["d", [*pairs]]:
            for pair in pairs:
                match pair:
                    case [_, ["e", str(text)]]:
                        yield text[:1000]
