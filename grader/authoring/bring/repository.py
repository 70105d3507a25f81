"""An author's own repository: which of its files are the program, and what the others are good for."""

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.core.errors import KataError
from grader.core.packed import Files
from grader.course import paths, project

_PACKAGING = ("setup.py", "setup.cfg", "pyproject.toml", "requirements.txt")
_PATCHES = (".patch", ".diff")
_PAGES = (".md", ".rst", "")
"""How files end that are read by people: a README, a LICENSE."""


@dataclass(frozen=True)
class Repository:
    """The program, in its files by path; pages and data, which lie beside a start; tests of its own."""

    name: str
    program: Files
    pages: Files
    data: Files
    tests: Mapping[str, str]
    left_out: tuple[str, ...] = ()


def read(folder: Path, patches: Path) -> Repository:
    """What lies in a folder: where git knows files there, those that it tracks. Its patches are no part.

    Raises:
        KataError: it is no folder, holds no program, or more than an answer may.
    """
    if not folder.is_dir():
        raise KataError(f"--bring {folder}: there is no such folder; name that of your repository")
    parts: dict[str, dict[str, bytes]] = {"program": {}, "pages": {}, "data": {}, "tests": {}}
    left_out = []
    for name in _names(folder):
        file = folder / name
        part = "" if file.is_symlink() or not file.is_file() else _part(name)
        if not part or (patches.resolve() in file.resolve().parents and not patches.samefile(folder)):
            continue
        if part == "program" and file.stat().st_size > project.MOST_BYTES:
            left_out.append(f"{name} (larger than {project.MOST_BYTES >> 20} MiB)")
            continue
        parts[part][name] = _plain(file)
    _expect_an_answer(folder, parts["program"], parts["data"])
    tests = {name: _text(folder / name, held) for name, held in parts["tests"].items()}
    program = {**_packages(parts["program"]), **parts["program"]}
    called = folder.resolve().name
    return Repository(called, program, parts["pages"], parts["data"], tests, tuple(left_out))


def _expect_an_answer(folder: Path, program: Files, data: Files) -> None:
    shown = paths.shown(folder)
    if not any(name.endswith(".py") for name in program):
        raise KataError(f"{shown} holds no Python file; name the folder of a program")
    for name, held in program.items():
        if name.endswith(".py"):
            _text(folder / name, held)
    if code := next((name for name in data if name.endswith(".py")), None):
        raise KataError(f"{shown}/{code}: {project.DATA} holds what learners only read; give it another name")
    if len(program) + len(data) > project.MOST_FILES:
        raise KataError(f"{shown} holds more than {project.MOST_FILES} files; bring the program alone")
    if sum(map(len, [*program.values(), *data.values()])) > project.MOST_BYTES_IN_ALL:
        most = project.MOST_BYTES_IN_ALL >> 20
        raise KataError(f"{shown} holds more than {most} MiB; bring the program alone")


def _names(folder: Path) -> list[str]:
    """Paths from the folder: of what git tracks there; where it knows nothing, of all that is there."""
    try:
        command = ["git", "-C", str(folder), "ls-files", "-z"]
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        done = None
    tracked = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1] if done else []
    return tracked or [file.relative_to(folder).as_posix() for file in project.files(folder)]


def _part(name: str) -> str:
    """Which part of a repository a file is; "" for none."""
    path = PurePosixPath(name)
    if not all(project.counts(part, at_top=False) for part in path.parts):
        return ""
    if name in _PACKAGING or path.suffix in _PATCHES:
        return ""
    if path.parts[0] in ("tests", "test") or path.stem.startswith("test_") or path.stem.endswith("_test"):
        return "tests" if path.suffix == ".py" else ""
    if path.name == "conftest.py":
        return ""
    if path.parts[0] == project.DATA:
        return "data"
    return "pages" if path.suffix in _PAGES else "program"


def _packages(program: Files) -> dict[str, bytes]:
    """An empty `__init__.py` for each folder of Python files, so that a suite may name it."""
    return {f"{folder}/{project.START}": b"" for name in program for folder in _above(name)}


def _above(name: str) -> Iterator[str]:
    if name.endswith(".py"):
        yield from (folder.as_posix() for folder in PurePosixPath(name).parents if folder.name)


def _plain(file: Path) -> bytes:
    """What it holds, with line ends as everywhere in a course."""
    held = file.read_bytes()
    return held if b"\0" in held else held.replace(b"\r\n", b"\n")


def _text(file: Path, held: bytes) -> str:
    try:
        return held.decode("utf-8")
    except UnicodeDecodeError:
        raise KataError(f"{paths.shown(file)} is no UTF-8; save it as such") from None
