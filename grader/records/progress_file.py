"""The file that a learner's progress is kept in, and the one before it: what is damaged is set aside."""

import contextlib
import json
import time
from pathlib import Path
from typing import Any

from grader.core import atomic_write
from grader.course import paths
from grader.records.records import write_json

FILE = paths.STATE / "progress.json"
PARTS = ("states", "hints", "revealed", "path", "at", "practice", "again", "placement", "anew", "capstones")


def read() -> dict[str, Any]:
    """All parts, each a dict. A damaged file is set aside, and what was written before it is read."""
    try:
        text = FILE.read_bytes()
    except OSError:
        return {name: {} for name in PARTS}
    found = _parts(text)
    if found is None:
        _set_aside()
        return read()
    return {name: found.get(name, {}) for name in PARTS}


def write(parts: dict[str, Any]) -> None:
    """Put these in place of what was written before, which is kept beside."""
    with contextlib.suppress(OSError):
        if _parts(before := FILE.read_bytes()) is not None:
            atomic_write.write(_before(), before.decode("utf-8"))
    write_json(FILE, parts)


def _before() -> Path:
    return FILE.with_suffix(".before.json")


def _parts(text: bytes) -> dict[str, Any] | None:
    """What a file holds; None where it is damaged."""
    try:
        found = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and all(isinstance(p, dict) for p in found.values()) else None


def _set_aside() -> None:
    aside = FILE.with_suffix(f".damaged-{time.strftime('%Y%m%d-%H%M%S')}.json")
    before: dict[str, Any] = {}
    with contextlib.suppress(OSError):
        before = _parts(_before().read_bytes()) or {}
    with contextlib.suppress(FileNotFoundError):  # another process was here first
        FILE.replace(aside)
        why = f"{paths.shown(FILE)} was damaged, and is kept as {aside.name}"
        write_json(FILE, {**before, "anew": {"why": why}})
