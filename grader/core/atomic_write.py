"""Files that we write: whole or not at all, and new folders only where nothing of anybody's lies."""

import os
import tempfile
from pathlib import Path

from grader.core.errors import KataError


def write(file: Path, text: str, *, durable: bool = False) -> None:
    """Write the file so that a reader sees the old one or the new one, never a part of it.

    A durable one is whole even if the machine stops at any moment. What UTF-8 cannot hold becomes `?`.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as stream:
            stream.write(text)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def expect_room(target: Path) -> None:
    """Raises KataError unless the folder is new or empty."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise KataError(f"{target} is there already and not empty; name a new folder, or empty it")
