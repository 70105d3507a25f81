"""Which exercises a pytest run is about: those that its command line names, by a file or by `-k`."""

import ast
from functools import cache
from pathlib import Path

import pytest

from grader.course import paths
from grader.course.catalog import load
from grader.course.exercise import Exercise


def exercise_of(path: Path) -> Exercise | None:
    """The exercise that a suite's file belongs to, or None for any other test file."""
    return _by_suite().get(path)


@cache
def _by_suite() -> dict[Path, Exercise]:
    return {exercise.file(tree): exercise for exercise in load().exercises for tree in exercise.suites}


def named(config: pytest.Config) -> frozenset[Exercise]:
    """The exercises that the command line names."""
    folder = config.invocation_params.dir
    files = [exercise_of((folder / argument.split("::")[0]).resolve()) for argument in config.args]
    tree = _parsed(config.option.keyword)
    words = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)] if tree else []
    return frozenset(filter(None, [*files, *map(load().of_stem, words)]))


def is_left_out(path: Path, config: pytest.Config) -> bool:
    """Whether `-k` asks for nothing under `path`, as the exercises that it names lie elsewhere."""
    tree = _parsed(config.option.keyword)
    if tree is None:
        return False
    if {path.parent, path.parent.parent} & {paths.PUBLIC, paths.HIDDEN} and not path.suffix:
        exercises = [e for e in load().exercises if path.name in (e.section, Path(e.folder).name)]
    else:
        exercises = [e for e in [exercise_of(path)] if e]
    return bool(exercises) and not any(_can_be(tree, True, e) for e in exercises)


@cache
def _parsed(expression: str) -> ast.expr | None:
    """What `-k` asks for; None where Python cannot read it, as pytest can `f[(2, 3)]`."""
    try:
        return ast.parse(expression.strip().lower(), mode="eval").body
    except SyntaxError:
        return None


def _can_be(tree: ast.expr, wanted: bool, exercise: Exercise) -> bool:
    """Whether an expression can come out as wanted for some check of this exercise."""
    if isinstance(tree, ast.BoolOp):
        enough = all if isinstance(tree.op, ast.And) == wanted else any
        return enough(_can_be(part, wanted, exercise) for part in tree.values)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return _can_be(tree.operand, not wanted, exercise)
    if isinstance(tree, ast.Name) and tree.id in f"test_{exercise.slug}.py":
        return wanted
    if isinstance(tree, ast.Name) and load().of_stem(tree.id):
        return not wanted  # another exercise
    return True  # it may stand in the names of some checks
