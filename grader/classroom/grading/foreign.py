"""Bugs in an answer that its student never got: perhaps it was begun from somebody else's variant."""

from collections.abc import Iterator, Mapping

from grader.core.packed import unpacked
from grader.course import starts, variant
from grader.course.exercise import Exercise
from grader.course.variant_table import VariantTable
from grader.verdict import cache_key


def flag(exercise: Exercise, answer: bytes, table: VariantTable) -> str:
    """What a person is to look at; "" where nothing is odd. It changes no score."""
    names = list(_foreign(exercise, answer)) if exercise.is_capstone else []
    if not names:
        return ""
    seeds = ", ".join(map(str, table.having(exercise, names)))
    whose = f"variant {seeds} has them" if seeds else "no variant of the table has them all"
    told = f"{', '.join(names)}, which variant {exercise.variant} never had"
    return f"holds bugs of another variant: {told}; {whose}"


def _foreign(exercise: Exercise, answer: bytes) -> Iterator[str]:
    """The bugs whose lines are in the answer, and in neither its start nor the solution."""
    solution = unpacked(cache_key.solution(exercise))
    given, start = unpacked(answer), unpacked(starts.content(exercise))
    own = variant.chosen(exercise, exercise.variant)
    for name, bug in variant.bugs(exercise).items():
        if name in own:
            continue
        wrong = bug.applied(solution)
        new = {
            file: _lines(wrong, file) - _lines(solution, file) - _lines(start, file)
            for file in wrong
            if wrong[file] != solution.get(file)
        }
        if any(new.values()) and all(lines <= _lines(given, file) for file, lines in new.items()):
            yield name


def _lines(files: Mapping[str, bytes], name: str) -> set[bytes]:
    return {line.strip() for line in files.get(name, b"").splitlines() if line.strip()}
