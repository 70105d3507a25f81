"""A variant of a capstone: the solution with five bugs of its pool, which a number chooses.

The same number always means the same bugs, on every machine; of those that hide another, one pair is among
them. What is no part of the solution (the statement, a README) is that of the start that the course has.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from grader.core.errors import KataError
from grader.core.packed import packed, unpacked
from grader.course import paths, project, specimens
from grader.course.exercise import Exercise
from grader.course.specimen import Bug

SIZE = 5
"""So many bugs are laid out at a time."""


def chosen(exercise: Exercise, seed: int) -> tuple[str, ...]:
    """The names of a variant's bugs; one that hides another comes before it."""
    draw = random.Random(f"{exercise.slug}:{seed}").random  # the only part of it that never changes
    order = sorted(sorted(exercise.pool.names), key=lambda name: draw())
    pairs = sorted(exercise.pool.hides)
    first = pairs[int(draw() * len(pairs))] if pairs else ()
    names = [*first, *(name for name in order if name not in first)][:SIZE]
    return tuple(sorted(names, key=lambda name: _rank(exercise, name, names)))


def _rank(exercise: Exercise, name: str, among: list[str]) -> int:
    """How many of these hide it, and what hides them."""
    hiders = [one for one, other in exercise.pool.hides if other == name and one in among]
    rest = [one for one in among if one != name]
    return max((1 + _rank(exercise, hider, rest) for hider in hiders), default=0)


@cache
def bugs(exercise: Exercise) -> Mapping[str, Bug]:
    """The bugs of its pool by name, in the order in which they are written.

    Raises:
        KataError: the solution or the bugs are not here, as in a release.
    """
    places = (exercise, replace(exercise, root=paths.SOURCE))
    file = next(filter(lambda f: f.is_file(), (one.file("specimens") for one in places)), None)
    if file is None or not exercise.file("solutions").is_file():
        raise KataError(
            f"this copy holds one variant of {exercise.slug}, and not what others are made of; a clone does"
        )
    return {one.name: one for one in specimens.read(file) if isinstance(one, Bug)}


def with_bugs(exercise: Exercise, names: Iterable[str]) -> bytes:
    """The solution with these bugs, in the order of the pool; raises KataError as `bugs` does."""
    known, wanted = bugs(exercise), set(names)
    if unknown := sorted(wanted - known.keys()):
        raise KataError(f"no bug of {exercise.slug} is called {unknown[0]}: its row and its specimens differ")
    files = unpacked(exercise.content("solutions"))
    for name, bug in known.items():
        if name in wanted:
            files = bug.applied(files)
    return packed(files)


def start(exercise: Exercise, seed: int, given: bytes) -> bytes:
    """What a variant begins with, where `given` is another variant's start, or what became of it."""
    files = unpacked(with_bugs(exercise, chosen(exercise, seed)))
    around = {
        name: held for name, held in unpacked(given).items() if name == project.START or name not in files
    }
    return packed({**files, **around})


def of(exercise: Exercise, seed: int, given: bytes) -> Exercise:
    """The capstone as this variant has it."""
    return as_known(exercise, seed, exercise.digest(start(exercise, seed, given)))


def as_known(exercise: Exercise, seed: int, digest: str) -> Exercise:
    """The same, where the digest of its start is known."""
    return replace(exercise, variant=seed, start=digest)


def as_given(exercise: Exercise) -> Exercise:
    """The capstone with the start that lies in the course: the variant of number 0."""
    return as_known(exercise, 0, exercise.pool.start)
