"""Bugs in an answer that its student never got: perhaps it was begun from somebody else's variant."""

from collections.abc import Iterator, Mapping
from functools import cache

from grader.core.packed import unpacked
from grader.course import starts, variant
from grader.course.exercise import Exercise
from grader.course.variant_table import VariantTable
from grader.verdict import cache_key

_UNTOLD = "if students were handed variants, name their table with --variants"


def flag(exercise: Exercise, answer: bytes, table: VariantTable) -> str:
    """What a person is to look at; "" where nothing is odd. It changes no score."""
    names = list(_foreign(exercise, answer)) if exercise.is_capstone else []
    if not names:
        return ""
    seeds = ", ".join(map(str, table.having(exercise, names)))
    whose = f"variant {seeds} has them" if seeds else "no variant of the table has them all"
    told = f"{', '.join(names)}, which variant {exercise.variant} never had"
    return f"holds bugs of another variant: {told}; {whose if table.seeds else _UNTOLD}"


def _foreign(exercise: Exercise, answer: bytes) -> Iterator[str]:
    """The bugs whose lines are in the answer, and in neither its start nor the solution."""
    given, start = unpacked(answer), unpacked(starts.content(exercise))
    own = variant.chosen(exercise, exercise.variant)
    for name, brought in _brought(variant.as_given(exercise)).items():
        new = {file: lines - _lines(start, file) for file, lines in brought.items()}
        if name not in own and any(new.values()) and all(new[file] <= _lines(given, file) for file in new):
            yield name


@cache
def _brought(exercise: Exercise) -> Mapping[str, Mapping[str, set[bytes]]]:
    """Of each bug, the lines that it brings into files of the solution: the same for all variants."""
    solution = unpacked(cache_key.solution(exercise))
    wrong = {name: bug.applied(solution) for name, bug in variant.bugs(exercise).items()}
    return {
        name: {
            file: _lines(files, file) - _lines(solution, file)
            for file in files
            if files[file] != solution.get(file)
        }
        for name, files in wrong.items()
    }


def _lines(files: Mapping[str, bytes], name: str) -> set[bytes]:
    return {line.strip() for line in files.get(name, b"").splitlines() if line.strip()}
