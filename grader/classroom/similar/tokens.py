"""An answer as a row of symbols that stay the same under new names, comments, layout and quotes."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, Text

_KNOWN = ("torch", "nn", "np", "numpy", "F")
"""Names that everybody has from the imports: they are kept, as is what follows a dot."""
_STRING = '"'
_FIRST = 0xE000
"""Symbols become characters from the private use areas on, so that a text of them is a row of symbols."""
_MANY = sys.maxunicode + 1 - _FIRST


@dataclass(frozen=True)
class Symbol:
    """What a token is compared by, and where it stands in the code."""

    text: str
    start: int
    end: int


def symbols(code: str) -> list[Symbol]:
    """The tokens that count: no comments, docstrings or imports.

    Never fails: what is no Python is split as well as may be.
    """
    found: list[Symbol] = []
    importing = False
    before = ("", "")  # the two tokens before this one
    for start, kind, text in _tokens(code):
        if kind in Text or kind in Comment or kind in String.Doc:
            importing = importing and "\n" not in text
            continue
        importing = importing or kind in Keyword.Namespace
        if importing:
            continue
        symbol = Symbol(_symbol(kind, text, before), start, start + len(text))
        if found and symbol.text == found[-1].text == _STRING:  # quotes and text are tokens of their own
            symbol = Symbol(_STRING, found.pop().start, symbol.end)
        found.append(symbol)
        before = (before[1], text)
    return found


def _tokens(code: str) -> Iterator[tuple[int, Any, str]]:
    """Place, kind and text of each token; `get_tokens` would change the text, and so the places."""
    yield from PythonLexer().get_tokens_unprocessed(code)


def _symbol(kind: Any, text: str, before: tuple[str, str]) -> str:
    if kind in String:
        return _STRING
    if kind in Number:
        return text.replace("_", "").lower()
    if kind in Name:
        attribute = before[1] == "." and before[0] != "self"
        known = kind in Name.Builtin and kind not in Name.Builtin.Pseudo
        return text if attribute or known or text in _KNOWN else "name"
    return text


class Alphabet:
    """One character for each symbol, the same one in every text."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def written(self, row: list[Symbol]) -> str:
        return "".join(self._character(symbol.text) for symbol in row)

    def _character(self, text: str) -> str:
        if text not in self._of:
            # Files of nothing but numbers use all characters up: others share them then, in no order.
            taken = len(self._of)
            self._of[text] = chr(_FIRST + (taken if taken < _MANY else crc32(text.encode()) % _MANY))
        return self._of[text]
