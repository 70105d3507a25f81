"""What two machines must have in common to come to the same verdicts."""

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from grader.core.errors import KataError
from grader.course.catalog import load
from grader.verdict.cache_key import content, grader_digest

SUITES = "suites of "
MOST_NAMED = 3


def facts(slugs: Iterable[str]) -> dict[str, str]:
    """What this machine has: versions, and digests of the grader and of these exercises' suites.

    The solutions are not among it: a worker judges without them.
    """
    here = sorted(Path(__file__).parent.glob("*.py"))
    return {
        "Python": ".".join(map(str, sys.version_info[:2])),
        # Builds of one release differ in the hardware that they know, not in what they compute on a CPU.
        "torch": version("torch").split("+")[0],
        "pytest": version("pytest"),
        "grader": _digest([grader_digest().encode(), *map(content, here)]),
        **{f"{SUITES}{slug}": _suites(slug) for slug in slugs},
    }


def _suites(slug: str) -> str:
    try:
        exercise = load().exercise(slug)
    except KataError:
        return ""
    files = [*map(exercise.file, exercise.suites), *exercise.beside]
    return _digest([repr(exercise).encode(), *map(content, files)])


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def difference(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str | None:
    """What a worker has that we have otherwise, and what to do about it; None where they agree."""
    differing = [name for name in ours if theirs.get(name) != ours[name]]
    if not differing:
        return None
    first = differing[0]
    if first == "grader":
        return "it has another version of torchkata; check out there what is checked out here"
    if first.startswith(SUITES):
        slugs = [name.removeprefix(SUITES) for name in differing]
        more = f" and {len(slugs) - MOST_NAMED} more" if len(slugs) > MOST_NAMED else ""
        named = ", ".join(slugs[:MOST_NAMED])
        return f"it has other suites of {named}{more}; copy tests/ and exercises/ from here to there"
    has = f"it has {first} {theirs.get(first, 'missing')}, and this machine {ours[first]}"
    wanted = f"a Python {ours[first]}" if first == "Python" else f"{first}=={ours[first]}"
    return f"{has}; install {wanted} there"


if __name__ == "__main__":
    json.dump(facts(json.load(sys.stdin)), sys.stdout)
