"""The address of a verdict: a digest of all that it depends on.

That is the answer's bytes, the suites, the reference, the code that judges, torch and the seed.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from grader.course import paths
from grader.course.exercise import Exercise
from grader.course.policy import Policy


def of(exercise: Exercise, answer: bytes, seed: int, *, confined: bool) -> str:
    """The address of the verdict on one answer."""
    return _hex(repr(sorted(parts(exercise, answer, seed, confined=confined).items())).encode())


def parts(exercise: Exercise, answer: bytes, seed: int, *, confined: bool) -> dict[str, str]:
    """What the verdict on an answer depends on: digests, and what is short enough to be told as it is."""
    told = {"seed": str(seed), "sandbox": "on" if confined else "off"}
    return {"answer": _hex(answer), **_base(exercise), **told}


def short(parts: Mapping[str, str]) -> dict[str, str]:
    """The same as records keep it: to be compared with that of another time, not to be relied on."""
    return {name: part[:12] if len(part) == _LONG else part for name, part in parts.items()}


def of_answer(answer: bytes) -> str:
    """What records know an answer by."""
    return _hex(answer)[:12]


def of_policy(policy: Policy) -> str:
    """What becomes of a verdict's shares, in short. Points are told by themselves."""
    code = content(paths.PACKAGE / "course" / "policy.py")
    return _hex(repr(replace(policy, steps=0.0)).encode(), code)[:12]


@cache
def _base(exercise: Exercise) -> dict[str, str]:
    """What all answers to it share."""
    suite = [repr(exercise).encode(), *map(content, map(exercise.file, exercise.suites))]
    for file in exercise.beside:
        name = file.relative_to(exercise.root).as_posix()
        suite.append(name.encode() + b"\0" + content(file))
    return {
        "suite": _hex(*suite),
        "reference": _hex(solution(exercise)),
        "grader": grader_digest(),
        "torch": versions(),
    }


_LONG = 64


def _hex(*texts: bytes) -> str:
    """One digest of several texts, wherever one ends and the next begins."""
    if len(texts) == 1:
        return hashlib.sha256(*texts).hexdigest()
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts)).hexdigest()


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


_JUDGING = ("core", "course", "protocol", "diagnose", "checks", "sandbox", "plugin", "engine", "verdict")
"""The packages that judge; all others show, store or hand out what these find."""


@cache
def grader_digest(*more: str) -> str:
    """A digest of the code that judges, with `more` packages."""
    digest = hashlib.sha256()
    for package in (*_JUDGING, *more):
        for file in sorted((paths.PACKAGE / package).rglob("*.py")):
            digest.update(hashlib.sha256(content(file)).digest())
    return digest.hexdigest()
