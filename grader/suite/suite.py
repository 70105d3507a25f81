"""An assignment's suite as its instructor has it: the tests, what they need, what they are worth.

It lies in a folder of the assignment's repository, say `tests/`. Students hand in the whole repository; of
their copy of this folder only the adapters count, in which they call their own code.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.core.errors import KataError
from grader.core.packed import Files
from grader.course import paths
from grader.suite.settings import FILE, Settings
from grader.suite.settings import read as settings_in

MOST_BYTES = 256 << 20
_LEFT_OUT = ("__pycache__", ".pytest_cache", ".git", ".venv", FILE)
_CONFIGS = {
    "pytest.ini": b"[pytest]",
    ".pytest.ini": b"[pytest]",
    "pyproject.toml": b"[tool.pytest",
    "tox.ini": b"[pytest]",
    "setup.cfg": b"[tool:pytest]",
}
"""Where pytest looks for its settings, in this order, and what tells that they are there."""
_NO_CONFIG = "pytest.ini", b"[pytest]\n"


@dataclass(frozen=True)
class Suite:
    """The tests of an assignment.

    Args:
        root: the assignment's repository; `place` is the suite's folder in it.
        files: what is laid over every submission, by path from the repository's root.
        adapters: the files that are the student's, wherever they lie.
        stubs: the adapters as the suite brings them.
        config: the file with pytest's settings.
    """

    root: Path
    place: str
    files: Files
    adapters: tuple[str, ...]
    stubs: Files
    config: str
    settings: Settings

    @property
    def name(self) -> str:
        """What the assignment is called."""
        return self.root.name or self.place

    def own(self, files: Files) -> dict[str, bytes]:
        """Of a student's files those that count: the adapters, and what lies outside the suite's folder."""
        return {path: content for path, content in files.items() if self.is_students(path)}

    def is_students(self, path: str) -> bool:
        """Whether a file of this path is the student's."""
        inside = path == self.place or path.startswith(f"{self.place}/")
        is_below = any(str(parent) in self.files for parent in PurePosixPath(path).parents)
        return path in self.adapters or not (inside or is_below or path in self.files)

    def digest(self, but: Sequence[str] = ()) -> str:
        """Of all that a verdict depends on, without the files `but`. Points are no part of it."""
        kept = {path: content for path, content in self.files.items() if path not in but}
        told = [self.place, self.adapters, self.config, self.settings.seconds, sorted(kept)]
        digest = hashlib.sha256(json.dumps(told).encode())
        for path in sorted(kept):
            digest.update(hashlib.sha256(kept[path]).digest())
        return digest.hexdigest()


def read(folder: Path, adapters: Sequence[Path]) -> Suite:
    """The suite in a folder.

    Raises:
        KataError: there is none, an adapter lies elsewhere, or its settings say what is not understood.
    """
    place = folder.resolve()
    shown = paths.shown(folder)
    if not place.is_dir():
        raise KataError(f"--suite {shown} is no folder; name the one with the assignment's tests")
    inside = _adapters(adapters, place.parent, shown)
    found = _read(place, shown)
    if not any(path.endswith(".py") for path in found):
        raise KataError(f"--suite {shown} holds no tests; name the folder with the assignment's tests")
    stubs = {path: _content(place.parent / path) for path in inside}
    config, content = _config(place)
    files = {path: content for path, content in found.items() if path not in inside} | {config: content}
    return Suite(place.parent, place.name, files, inside, stubs, config, settings_in(place / FILE))


def _adapters(adapters: Sequence[Path], root: Path, shown: str) -> tuple[str, ...]:
    found = []
    for adapter in adapters:
        file = adapter.resolve()
        if not file.is_relative_to(root):
            raise KataError(
                f"--adapter {paths.shown(adapter)} lies outside the repository that {shown} is a part of"
            )
        if not file.is_file():
            raise KataError(f"--adapter {paths.shown(adapter)} is no file; name it as students get it")
        found.append(file.relative_to(root).as_posix())
    return tuple(found)


def _read(place: Path, shown: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for file in sorted(place.rglob("*")):
        inside = file.relative_to(place.parent)
        if file.is_file() and not any(part in _LEFT_OUT for part in inside.parts):
            found[inside.as_posix()] = _content(file)
            left -= len(found[inside.as_posix()])
            if left < 0:
                raise KataError(
                    f"--suite {shown} holds more than {MOST_BYTES >> 20} MiB; keep data elsewhere"
                )
    return found


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise KataError(f"{paths.shown(file)} cannot be read: {error.strerror}") from None


def _config(place: Path) -> tuple[str, bytes]:
    """The file with pytest's settings, as pytest finds it; an empty one where there is none."""
    for folder in (place, place.parent):
        for name, sign in _CONFIGS.items():
            file = folder / name
            if file.is_file() and sign in (content := _content(file)):
                return file.relative_to(place.parent).as_posix(), content
    return _NO_CONFIG
