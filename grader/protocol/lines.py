"""A line of JSON that a child wrote, read in a time that follows its length."""

import json
from typing import Any

MOST_NAMES = 16
"""What an object in such a line may hold; what an oracle returned holds lists in place of objects."""

_MOST_DIGITS = 40
"""Of a whole number: to read one takes a time that grows with their square."""


def parsed(line: str | bytes | bytearray) -> Any:
    """What the line holds; None where no child of ours writes such a line."""
    try:
        return json.loads(line, parse_int=_whole, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("more digits than we write")
    return int(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_NAMES:
        raise ValueError("more names than we write")
    return dict(pairs)
