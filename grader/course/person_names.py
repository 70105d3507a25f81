"""How the names of people are compared: what platforms change of a name counts nothing.

Nothing here decides who somebody is; that takes a list of students (`roster`).
"""

import re
import unicodedata
from collections.abc import Iterator

_JOINERS = "\u200c\u200d"
"""Invisible, and a part of names in Persian and in India."""
_APOSTROPHES = re.compile("['`´’‘‛ʼʻʹ′＇]")
_SHOWN_AS = ("cp437", "cp850", "cp1252", "latin-1")
_WRITTEN_IN = (
    *("utf-8", "gb18030", "cp932", "big5", "cp949"),
    *("cp437", "cp850", "cp1250", "cp1251", "cp1252", "cp866"),
)
"""What archives without a word on their encoding are made in, and what they are then taken for."""


def visible(text: str) -> str:
    """A text in one line, without control characters and marks that turn the direction of what follows."""
    if text.isprintable():  # nearly always, and known at once
        return " ".join(text.split())
    kept = (c for c in text if c.isspace() or c in _JOINERS or unicodedata.category(c) not in ("Cc", "Cf"))
    return " ".join("".join(kept).split())


def folded(name: str) -> str:
    """What is the same of two that differ in case, the form of accents and what is not seen."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", visible(name)).casefold())


def words(name: str) -> list[str]:
    """A name's parts, in letters and digits alone: `ada` and `lovelace` of `Lovelace, Ada`."""
    last, comma, first = _APOSTROPHES.sub("", folded(unicodedata.normalize("NFKC", name))).partition(",")
    whole = f"{first} {last}" if comma else last
    return "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in whole).split()


def spellings(name: str) -> set[str]:
    """The letters of a name, whichever part of it comes first. Two names that share one are the same.

    So `Ada Lovelace`, `Lovelace, Ada` and Canvas's `lovelaceada` are, and `O'Brien` and `OBrien`.
    """
    parts = words(name)
    return {"".join(parts[n:] + parts[:n]) for n in range(len(parts))}


def readings(name: str) -> Iterator[str]:
    """What a name may be that was read in another encoding than it was written in.

    Most are nonsense; a reading is worth something where somebody is known to be called so.
    """
    if name.isascii():
        return
    raw = set()
    for encoding, errors in (("utf-8", "surrogateescape"), *((shown, "strict") for shown in _SHOWN_AS)):
        try:
            raw.add(name.encode(encoding, errors))
        except UnicodeError:
            continue
    for content in sorted(raw):
        for encoding in _WRITTEN_IN:
            try:
                yield content.decode(encoding)
            except UnicodeError:
                continue
