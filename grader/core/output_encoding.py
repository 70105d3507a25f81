"""What stands in the output for a character that its encoding lacks: cp1252 and ASCII lack our marks."""

import codecs
import re
import sys
import unicodedata
from io import TextIOWrapper

_NAME = "kata.lacking"
_INSTEAD = {
    "✓": "+", "✗": "x", "●": "*", "○": "o", "◐": "%", "·": ".", "█": "#", "▒": "=", "░": ".",
    "‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "…": "...",
    "→": "->", "←": "<-", "↑": "^", "↓": "v", "×": "x", "±": "+-", "√": "sqrt", "∂": "d", "‖": "||",
}  # fmt: skip
"""One character for one where the screen counts on it: in marks, bars and maps of what is wrong."""
_GREEK = re.compile(r"GREEK \w+ LETTER (\w+)")


def replace_what_lacks() -> None:
    """From now on, what standard output or error cannot encode is printed as something like it."""
    codecs.register_error(_NAME, _told)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # not so in a notebook, which lacks nothing
            stream.reconfigure(errors=_NAME)


def _told(error: UnicodeError) -> tuple[str, int]:
    """A handler of errors, as `codecs.register_error` wants one."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_instead, error.object[error.start : error.end])), error.end


def _instead(character: str) -> str:
    if character in _INSTEAD:
        return _INSTEAD[character]
    if greek := _GREEK.match(unicodedata.name(character, "")):
        return greek[1].lower()
    parts = (_INSTEAD.get(part, part) for part in unicodedata.normalize("NFKD", character))
    return "".join(parts).encode("ascii", "ignore").decode() or "?"
