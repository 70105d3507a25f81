"""A repository for each student of a roster, each with other variants of the capstones."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.core import atomic_write
from grader.core.errors import KataError
from grader.core.packed import unpacked, written
from grader.course import starts, variant_table
from grader.course.bug_pool import BugPool
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.course.roster import Student
from grader.publish.release import release


def write(target: Path, only: list[str] | None, students: Sequence[Student]) -> int:
    """Write a release for each student into `target/<student>`, and beside them who got which variant.

    Returns how many exercises each holds.

    Raises:
        KataError: as `release` does; or there is no student, or no capstone.
    """
    exercises = load().select(only)
    if not students:
        raise KataError("the roster names no student; write a line for each")
    if not any(e.is_capstone for e in exercises):
        raise KataError("none of these exercises is a capstone; leave --variants out")
    names = [student.id for student in students]
    table = variant_table.drawn(names, exercises)
    variants = {name: [table.of(name, e) for e in exercises if e.is_capstone] for name in names}
    first, *others = names
    atomic_write.expect_room(target)
    count = release(target / first, only)
    try:
        for name in others:
            shutil.copytree(target / first, target / name)
        for name in names:
            for exercise in variants[name]:
                _lay(exercise, target / name)
        atomic_write.write(target / variant_table.FILE, table.text())
    except OSError as error:
        raise KataError(f"cannot write {target}: {error.strerror}; choose another folder") from None
    return count


def _lay(exercise: Exercise, root: Path) -> None:
    """Put a variant into a release, whose row then knows its start, and nothing of bugs."""
    there = replace(exercise, root=root, start=exercise.pool.start, pool=BugPool())
    written(unpacked(starts.content(exercise)), there.place("exercises"))
    starts.write([there])
