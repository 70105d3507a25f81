"""Answers and other files, written into a course's folder; an answer keeps the time at which it was saved."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.publish.update.outcomes import MergedAnswer


def answers(root: Path, found: Iterable[MergedAnswer]) -> None:
    """Write each answer where it is to lie, with what lies beside it; where it lay before it is gone."""
    for one in found:
        files(root, {path: None for path in one.was} | {**one.files, **one.beside})
        if one.now is not None:
            os.utime(root / one.now.statement, ns=(one.saved, one.saved))


def files(root: Path, contents: Mapping[str, bytes | None]) -> None:
    """Write these files; those without content are to be gone, and folders that are left empty."""
    for path, content in contents.items():
        place = root / path
        if content is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        elif place.exists():
            place.unlink()
            for above in place.relative_to(root).parents:
                if any((root / above).iterdir()):
                    break
                (root / above).rmdir()
