"""What was asked: of a pasted traceback the message at its end."""

import re

RAISED = re.compile(
    r"^[ \t|>E]*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Warning|Interrupt|Exit)\s*:", re.MULTILINE
)
TRACE = re.compile(r"^\s*(?:File \"|Traceback \(|\s+\^|During handling|The above exception)", re.MULTILINE)
_MOST = 2000
"""Letters of a message that are looked at: what comes after them are lists of names."""


def is_printed(asked: str) -> bool:
    """Whether it is an error as Python prints it."""
    return bool(RAISED.search(asked))


def message_of(asked: str) -> str:
    """What is to be found: the last error of a traceback, wrapped lines included; else all that was asked.

    Of several errors in a chain the last is the one that a person sees. What stands below is no part of it.
    """
    raised = list(RAISED.finditer(asked))
    if not raised:
        return asked[:_MOST]
    text = asked[raised[-1].start() :]
    below = TRACE.search(text, raised[-1].end() - raised[-1].start())
    return (text[: below.start()] if below else text).strip()[:_MOST]
