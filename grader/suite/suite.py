"""An assignment's suite as its instructor has it: the tests, what they need, what they are worth.

It lies in a folder of the assignment's repository, say `tests/`. Students hand in all of that, or what they
wrote of it; in this folder only the adapters count, in which they call their own code, and modules that they
put beside those. What else students are handed out lies under what they hand in.
"""

import fnmatch
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.core.errors import KataError
from grader.core.packed import Files
from grader.course import paths
from grader.suite.settings import FILE, Settings
from grader.suite.settings import read as settings_in

MOST_BYTES = 256 << 20
_LEFT_OUT = ("__pycache__", ".pytest_cache", ".git", ".venv", FILE)
_TESTS = ("tests", "test")
"""Names of folders that tell nothing of an assignment."""
_PYTESTS_OWN = ("conftest.py", "test_*.py", "*_test.py")
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
        given: the stubs, and what else students are handed out: it counts where they have changed nothing.
    """

    root: Path
    place: str
    files: Files
    adapters: tuple[str, ...]
    stubs: Files
    config: str
    settings: Settings
    given: Files = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.root / self.place

    @property
    def name(self) -> str:
        """What the assignment is called: as the folder of its tests, where that says more than "tests"."""
        name = self.folder.name
        return self.folder.parent.name or name if name in _TESTS else name

    def own(self, files: Files) -> dict[str, bytes]:
        """Of a student's files those that count: the adapters, and what lies outside the suite's folder."""
        return {path: content for path, content in files.items() if self.is_students(path)}

    def is_students(self, path: str) -> bool:
        """Whether a file of this path is the student's."""
        inside = path == self.place or path.startswith(f"{self.place}/")
        is_below = any(str(parent) in self.files for parent in PurePosixPath(path).parents)
        if path in self.adapters or path in self.files or is_below:
            return path in self.adapters
        return not inside or self._is_beside(PurePosixPath(path))

    def _is_beside(self, path: PurePosixPath) -> bool:
        """Whether it is a module in an adapter's folder, and none that pytest looks for."""
        folders = {PurePosixPath(adapter).parent for adapter in self.adapters}
        is_pytests = any(fnmatch.fnmatch(path.name, pattern) for pattern in _PYTESTS_OWN)
        return path.suffix == ".py" and path.parent in folders and not is_pytests

    def unused(self, own: Files) -> str:
        """Why nothing of these files of a student's can count; empty where something can.

        Tests import the module beside them: one of the same name elsewhere is never seen.
        """
        if not own:
            return f"nothing in it counts: all of it lies where the tests do, in {self.place}/"
        modules = {PurePosixPath(path).name for path in own if path.endswith(".py")} - {"__init__.py"}
        beside = {PurePosixPath(path).name for path in self.files if path.endswith(".py")}
        if self.adapters or not modules or modules - beside:
            return ""
        return (
            f"the tests use the {' and '.join(sorted(modules))} that lies among them, not the one handed in"
        )

    def digest(self, but: Sequence[str] = ()) -> str:
        """Of all that a verdict depends on, without the files `but`. Points are no part of it."""
        kept = {path: content for path, content in self.files.items() if path not in but}
        given = [[path, hashlib.sha256(self.given[path]).hexdigest()] for path in sorted(self.given)]
        told = [self.place, self.adapters, self.config, self.settings.seconds, sorted(kept), given]
        digest = hashlib.sha256(json.dumps(told).encode())
        for path in sorted(kept):
            digest.update(hashlib.sha256(kept[path]).digest())
        return digest.hexdigest()


def read(folder: Path, adapters: Sequence[Path], handout: Path | None = None) -> Suite:
    """The suite in a folder, and the rest of the repository that students get, if it is named.

    Raises:
        KataError: there is none, an adapter lies elsewhere, or its settings say what is not understood.
    """
    place = folder.resolve()
    shown = paths.shown(folder)
    if not place.is_dir():
        raise KataError(f"--suite {shown} is no folder; name the one with the assignment's tests")
    root = place.parent if handout is None else _root(handout, place, shown)
    inside = _adapters(adapters, root, shown)
    found = _read(root, place.rglob("*"), shown)
    if not any(path.endswith(".py") for path in found):
        raise KataError(f"--suite {shown} holds no tests; name the folder with the assignment's tests")
    stubs = {path: _content(root / path) for path in inside}
    config, content = _config(root, place)
    files = {path: content for path, content in found.items() if path not in inside} | {config: content}
    given = dict(stubs)
    if handout is not None:
        others = (file for file in root.rglob("*") if not file.is_relative_to(place))
        seen = (file for file in others if not any(p.startswith(".") for p in file.relative_to(root).parts))
        rest = _read(root, seen, paths.shown(handout))
        given |= {path: content for path, content in rest.items() if path not in files}
    at = place.relative_to(root).as_posix()
    return Suite(root, at, files, inside, stubs, config, settings_in(place / FILE), given)


def _root(handout: Path, place: Path, shown: str) -> Path:
    """The repository that students get, with the suite in it."""
    root, named = handout.resolve(), paths.shown(handout)
    if not root.is_dir():
        raise KataError(f"--handout {named} is no folder; name the repository as students get it")
    if root == place:
        raise KataError(f"--handout {named} is --suite itself, all of which is laid anyway; leave it out")
    if not place.is_relative_to(root):
        raise KataError(f"--suite {shown} is not in --handout {named}; name the repository that holds it")
    return root


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


def _read(root: Path, files: Iterable[Path], shown: str) -> dict[str, bytes]:
    """The content of these files, by path from `root`, without what tools leave."""
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for file in sorted(_kept(root, files)):
        inside = file.relative_to(root).as_posix()
        found[inside] = _content(file)
        left -= len(found[inside])
        if left < 0:
            raise KataError(f"{shown} holds more than {MOST_BYTES >> 20} MiB; keep data elsewhere")
    return found


def _kept(root: Path, files: Iterable[Path]) -> Iterator[Path]:
    for file in files:
        if file.is_file() and not any(part in _LEFT_OUT for part in file.relative_to(root).parts):
            yield file


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise KataError(f"{paths.shown(file)} cannot be read: {error.strerror}") from None


def _config(root: Path, place: Path) -> tuple[str, bytes]:
    """The file with pytest's settings, as pytest finds it; an empty one where there is none."""
    for folder in (place, *(parent for parent in place.parents if parent.is_relative_to(root))):
        for name, sign in _CONFIGS.items():
            file = folder / name
            if file.is_file() and sign in (content := _content(file)):
                return file.relative_to(root).as_posix(), content
    return _NO_CONFIG
