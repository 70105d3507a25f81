"""What a capstone needs beside a suite: a pool of bugs that fit together in any number and any order."""

from collections.abc import Iterator
from itertools import combinations

from grader.authoring.audit_case import AuditCase
from grader.core.errors import KataError
from grader.core.packed import packed, unpacked, written
from grader.course import paths, specimens, variant
from grader.course.exercise import Exercise
from grader.course.rows import row_file
from grader.course.specimen import Bug
from grader.protocol.check import CheckSpec, function
from grader.protocol.job import Job
from grader.records.records import ExerciseRecord

LEAST = variant.SIZE + 1
"""So many bugs are in a pool: with fewer, all students have the same. Ours have twice as many."""

_QUOTED = 12
"""So many letters of a bug's line in a hint are no chance."""


def write_start(exercise: Exercise) -> None:
    """Write the variant of number 0 over the capstone's start; what is no part of the solution stays."""
    start = variant.start(exercise, 0, exercise.content("exercises"))
    written(unpacked(start), exercise.place("exercises"))


def problems(exercise: Exercise) -> Iterator[str]:
    """What in row, pool and start of a capstone does not fit together."""
    file = exercise.file("specimens")
    try:
        kept = [one for one in specimens.read(file) if isinstance(one, Bug)]
    except KataError:
        return  # the audit tells it
    if not kept and not exercise.is_capstone:
        return
    if not exercise.is_project:
        yield 'has bugs and is no project: write kind = "project"'
        return
    yield from _naming_problems(exercise, kept)
    yield from _hint_problems(exercise, kept)
    ill = list(pair_problems(exercise, kept))
    yield from ill
    if not ill and {bug.name for bug in kept} == {*exercise.pool.names}:
        yield from _start_problems(exercise)


def _naming_problems(exercise: Exercise, kept: list[Bug]) -> Iterator[str]:
    row, file = (paths.shown(place) for place in (row_file(exercise), exercise.file("specimens")))
    names, told = [bug.name for bug in kept], exercise.pool.names
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two bugs in {file} are called {name}"
    for name in sorted({*names} - {*told}):
        yield f"to do in {row}: [exercise.{exercise.slug}.bugs] has no hints for {name}"
    for name in sorted({*told} - {*names}):
        yield f"to do in {file}: {name}: there is no such bug, and {row} has hints for it"
    if len(names) < LEAST:
        yield f"to do in {file}: bugs: {LEAST} are wanted, and here {len(names)}"
    for name in sorted({name for pair in exercise.pool.hides for name in pair} - {*told}):
        yield f"{row}: hides names {name}, which is no bug"


def _hint_problems(exercise: Exercise, kept: list[Bug]) -> Iterator[str]:
    """Hints lead to a place: they do not quote what stands there."""
    for bug in kept:
        hunks = [hunk for change in bug.changes.values() if not isinstance(change, str) for hunk in change]
        for line in (line.strip() for hunk in hunks for line in hunk.out):
            if len(line) >= _QUOTED and any(line in hint for hint in exercise.pool.hints_for(bug.name)):
                yield f"a hint for {bug.name} quotes the solution: {line}"


def pair_problems(exercise: Exercise, kept: list[Bug]) -> Iterator[str]:
    """Any two bugs can be laid out together, whichever comes first."""
    solution = unpacked(exercise.content("solutions"))
    for one, other in combinations(kept, 2):
        try:
            if other.applied(one.applied(solution)) != one.applied(other.applied(solution)):
                yield f"bugs {one.name} and {other.name} touch the same place: {other.where}"
        except KataError as apart:
            yield f"bugs {one.name} and {other.name} do not go together: {apart}"


def _start_problems(exercise: Exercise) -> Iterator[str]:
    start = exercise.content("exercises")
    if exercise.digest(variant.start(exercise, 0, start)) != exercise.digest(start):
        names = ", ".join(variant.chosen(exercise, 0))
        yield (
            f"the start is not the variant of number 0 ({names}); "
            f"`kata audit --write-starts --only {exercise.slug}` writes it"
        )


def pairs(exercise: Exercise, checks: list[CheckSpec]) -> Iterator[AuditCase]:
    """Every two bugs together, judged by the checks that are to fail on each."""
    if not exercise.is_capstone:
        return
    solution = unpacked(exercise.content("solutions"))
    for one, other in combinations(variant.bugs(exercise).values(), 2):
        try:
            files = other.applied(one.applied(solution))
        except KataError:
            continue  # which is told above
        wanted = (one.check, other.check)
        only = tuple(check.id for check in checks if check.function in wanted)
        about = f"the bugs {one.name} and {other.name} together"
        yield AuditCase("pair", about, Job(exercise, packed(files), 0, only=only), wanted=wanted)


def blind(pair: AuditCase, record: ExerciseRecord) -> Iterator[str]:
    """Which checks do not see their bug beside another: "test_future passes on …"."""
    seen = {function(c.id) for c in record.checks if c.outcome in ("failed", "timeout", "not_graded")}
    yield from (f"{name} passes on {pair.about}" for name in pair.wanted if name not in seen)
