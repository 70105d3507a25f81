"""TOML, as the standard library reads it; Python 3.10 has that from a package."""

import reprlib
import sys
from pathlib import Path
from typing import Any

from grader.core.errors import KataError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["read", "said", "tomllib"]

MOST_BYTES = 4 << 20

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
said = _SHORT.repr
"""A value as it is told to people, however long it is."""


def read(file: Path, shown: str) -> dict[str, Any]:
    """What a file says, which is `shown` so to people.

    Raises:
        KataError: it cannot be read.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES >> 20} MiB")
        told: dict[str, Any] = tomllib.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise KataError(f"{shown} cannot be read: it is nested too deep; mend it or take it away") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise KataError(f"{shown} cannot be read: {why}; mend it or take it away") from None
    return told
