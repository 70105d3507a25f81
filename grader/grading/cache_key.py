"""The address of a verdict: a digest of all that it depends on.

That is the answer's bytes, the suites, the reference, the code that judges, torch and the seed.
"""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

from grader.course import paths
from grader.course.exercise import Exercise


def of(exercise: Exercise, answer: bytes, seed: int, *, confined: bool) -> str:
    """The address of the verdict on one answer."""
    digest = hashlib.sha256(_base(exercise, confined).encode())
    digest.update(f"{seed}:{len(answer)}:".encode())
    digest.update(answer)
    return digest.hexdigest()


@cache
def _base(exercise: Exercise, confined: bool) -> str:
    digest = hashlib.sha256(f"{versions()}:{confined}:{exercise!r}".encode())
    for text in (*map(content, map(exercise.file, exercise.suites)), solution(exercise)):
        digest.update(hashlib.sha256(text).digest())
    for file in exercise.beside:
        name = file.relative_to(exercise.root).as_posix()
        digest.update(hashlib.sha256(name.encode() + b"\0" + content(file)).digest())
    digest.update(grader_digest().encode())
    return digest.hexdigest()


@cache
def versions() -> str:
    """Of what verdicts may differ with."""
    return f"{version('torch')}:{version('pytest')}"


@cache
def solution(exercise: Exercise) -> bytes:
    """The reference; nothing where there is none."""
    return exercise.content("solutions") if exercise.file("solutions").is_file() else b""


@cache
def content(file: Path) -> bytes:
    """What a file of this course holds; nothing where there is none."""
    return file.read_bytes() if file.is_file() else b""


_JUDGING = ("core", "course", "protocol", "diagnose", "checks", "sandbox", "plugin", "engine", "grading")
"""The packages that judge; all others show, store or hand out what these find."""


@cache
def grader_digest(*more: str) -> str:
    """A digest of the code that judges, with `more` packages."""
    digest = hashlib.sha256()
    for package in (*_JUDGING, *more):
        for file in sorted((paths.PACKAGE / package).rglob("*.py")):
            digest.update(hashlib.sha256(content(file)).digest())
    return digest.hexdigest()
