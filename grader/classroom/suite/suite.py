"""An assignment's suite as its instructor has it: the tests, what they need, what they are worth.

It lies in a folder of the assignment's repository, say `tests/`. Students hand in all of that, or what they
wrote of it; in this folder only the adapters count, in which they call their own code, and modules that they
put beside those. What else students are handed out lies under what they hand in.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from grader.classroom.suite.settings import FILE, AssignmentSettings
from grader.classroom.suite.settings import read as settings_in
from grader.core.errors import KataError
from grader.core.packed import Files
from grader.course import paths

MOST_BYTES = 256 << 20
_LEFT_OUT = ("__pycache__", ".pytest_cache", ".git", ".venv", FILE)
TESTS = ("tests", "test")
"""Names of folders that tell nothing of an assignment: they lie in its repository, and are not all of it."""
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
    settings: AssignmentSettings
    given: Files = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.root / self.place

    @property
    def name(self) -> str:
        """What the assignment is called: as the folder of its tests, where that says more than "tests"."""
        name = self.folder.name
        return self.folder.parent.name or name if name in TESTS else name

    def own(self, files: Files) -> dict[str, bytes]:
        """Of a student's files those that count: the adapters, and what lies outside the suite's folder."""
        return {path: content for path, content in files.items() if self.is_students(path)}

    def is_students(self, path: str) -> bool:
        """Whether a file of this path is the student's."""
        if path in self.adapters:
            return True
        file, place = PurePosixPath(path), PurePosixPath(self.place)
        if (
            path in self.files
            or path == self.place
            or file in self._around  # a file where the suite has a folder: neither could be laid out
            or any(str(above) in self.files for above in file.parents)
        ):
            return False
        if file.name == "conftest.py" and file.parent in self._around:
            return False
        inside = self.place != "." and file.is_relative_to(place)
        return not inside or (file.suffix == ".py" and file.parent in self._homes)

    @cached_property
    def _homes(self) -> set[PurePosixPath]:
        """The folders of adapters: modules beside them are the student's."""
        return {PurePosixPath(adapter).parent for adapter in self.adapters}

    @cached_property
    def _around(self) -> set[PurePosixPath]:
        """The folders in which pytest looks for a conftest."""
        return {folder for path in self.files for folder in PurePosixPath(path).parents}

    def unused(self, own: Files) -> str:
        """Why nothing of these files of a student's can count; empty where something can."""
        if not own:
            return "nothing in it counts: all that is in it lies among the tests"
        is_code = any(path.endswith(".py") for path in own)
        was_code = any(path.endswith(".py") for path in self.given)
        return "" if is_code or not was_code else "no module is in it"

    def digest(self, but: Sequence[str] = ()) -> str:
        """Of all that a verdict depends on, without the files `but`. Points are no part of it."""
        kept = {path: content for path, content in self.files.items() if path not in but}
        given = [[path, hashlib.sha256(self.given[path]).hexdigest()] for path in sorted(self.given)]
        told = [self.place, self.adapters, self.config, self.settings.seconds, sorted(kept), given]
        digest = hashlib.sha256(json.dumps(told).encode())
        for path in sorted(kept):
            digest.update(hashlib.sha256(kept[path]).digest())
        return digest.hexdigest()


def read(
    folder: Path, adapters: Sequence[Path], handout: Path | None = None, without: Iterable[Path | None] = ()
) -> Suite:
    """The suite in a folder, and the rest of the repository that students get, if it is named.

    What lies in one of the folders `without` is no part of it.

    Raises:
        KataError: there is none, an adapter lies elsewhere, or its settings say what is not understood.
    """
    place = folder.resolve()
    shown = paths.shown(folder)
    if not place.is_dir():
        raise KataError(f"the suite {shown} is no folder; name the one with the assignment's tests")
    root = _repository(place) if handout is None else _root(handout, place, shown)
    inside = _adapters(adapters, root, shown)
    apart = [each.resolve() for each in without if each is not None]
    found = _read(root, _below(place, apart), shown)
    if not any(path.endswith(".py") for path in found):
        raise KataError(f"the suite {shown} holds no tests; name the folder with the assignment's tests")
    stubs = {path: _content(root / path) for path in inside}
    config, content = _config(root, place)
    files = {path: content for path, content in found.items() if path not in inside}
    files |= {config: content, **_conftests(root, place)}
    given = dict(stubs)
    if handout is not None:
        others = _below(root, [*apart, place])
        seen = (file for file in others if not any(p.startswith(".") for p in file.relative_to(root).parts))
        rest = _read(root, seen, paths.shown(handout))
        given |= {path: content for path, content in rest.items() if path not in files}
    at = place.relative_to(root).as_posix()
    settings = next((each for each in (place / FILE, root / FILE) if each.exists()), place / FILE)
    return Suite(root, at, files, inside, stubs, config, settings_in(settings), given)


def _repository(place: Path) -> Path:
    """The repository, where nobody has named it: around `tests/`; else tests and code lie in one folder."""
    tests = next((folder for folder in (place, place.parent) if folder.name in TESTS), None)
    return place if tests is None else tests.parent


def _conftests(root: Path, place: Path) -> dict[str, bytes]:
    """Those above the suite: pytest reads them for its tests."""
    above = (folder / "conftest.py" for folder in place.parents if folder.is_relative_to(root))
    return {file.relative_to(root).as_posix(): _content(file) for file in above if file.is_file()}


def _root(handout: Path, place: Path, shown: str) -> Path:
    """The repository that students get, with the suite in it."""
    root, named = handout.resolve(), paths.shown(handout)
    if not root.is_dir():
        raise KataError(f"--handout {named} is no folder; name the repository as students get it")
    if root == place:
        raise KataError(f"--handout {named} is the suite itself, all of which is laid anyway; leave it out")
    if not place.is_relative_to(root):
        raise KataError(f"the suite {shown} is not in --handout {named}; name the repository that holds it")
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


def _below(folder: Path, apart: Sequence[Path]) -> Iterator[Path]:
    inside = [other for other in apart if folder in other.parents]
    for file in folder.rglob("*"):
        if not any(file.is_relative_to(other) for other in inside):
            yield file


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
