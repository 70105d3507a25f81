"""Null answers: the right names and signatures, and nothing behind them.

They are made from the reference solution, with every public function and method replaced. Of a class
without public methods, such as a dataset, the special ones are replaced, apart from `__init__`.
"""

import ast
from functools import partial
from typing import TypeGuard

from grader.authoring._compat import PYTREE
from grader.course import project
from grader.course.exercise import Exercise

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
KINDS = {
    "returns None": "lambda *args, **kwargs: None",
    "returns its first argument": "lambda *args, **kwargs: [*args[_skip:], *kwargs.values(), None][0]",
    "returns zeros of the right shape": "lambda *args, **kwargs: _zeros(_real(*_own(args), **_own(kwargs)))",
}

_ENDING = """

import contextlib as _contextlib
import copy as _copy
import inspect as _inspect
import torch as _torch
from {pytree} import tree_map as _tree_map


def _zero(leaf):
    if isinstance(leaf, _torch.Tensor):
        return _torch.zeros_like(leaf)
    if type(leaf).__module__ == __name__ and hasattr(leaf, "__dict__"):  # of a class of the answer's own
        empty = _copy.copy(leaf)
        plain = {{n: v for n, v in vars(leaf).items() if isinstance(v, (_torch.Tensor, int, float, str))}}
        vars(empty).update({{name: _zero(value) for name, value in plain.items()}})
        return empty
    if type(leaf) in (bool, int, float, str):
        return type(leaf)()
    if _inspect.isfunction(leaf) and not _inspect.iscoroutinefunction(leaf):
        return lambda *args, **kwargs: _zeros(leaf(*args, **kwargs))
    if hasattr(leaf, "__enter__"):  # a context: to be entered, and nothing happens
        return _contextlib.nullcontext()
    many = hasattr(leaf, "__iter__") or hasattr(leaf, "__getitem__")  # a generator, a loader, a dataset
    return iter(()) if many else leaf


def _zeros(result):
    return _tree_map(_zero, result)


def _own(given):
    # What the real function may change in the caller's place, where it can be copied.
    try:
        return _copy.deepcopy(given)
    except Exception:
        return given


def _null(_real, _skip):
    null = {body}
    if not _inspect.iscoroutinefunction(_real):
        return null

    async def later(*args, **kwargs):
        result = null(*args, **kwargs)
        return _zeros(await result) if _inspect.iscoroutine(result) else result

    return later


for _name in {functions!r}:
    globals()[_name] = _null(globals()[_name], 0)
for _owner, _name in {methods!r}:
    setattr(globals()[_owner], _name, _null(getattr(globals()[_owner], _name), 1))
"""


def answers(exercise: Exercise, solution: bytes) -> dict[str, bytes]:
    """Each null answer, by what it does; of a project, all of whose files are replaced."""
    if exercise.is_project:
        return {about: project.changed(solution, partial(_null, about)) for about in KINDS}
    return {about: source.encode() for about, source in sources(solution.decode("utf-8")).items()}


def _null(about: str, text: str) -> str:
    return sources(text)[about]


def sources(solution: str) -> dict[str, str]:
    """The text of each null answer, by what it does."""
    tree = ast.parse(solution)
    functions = [node.name for node in tree.body if _is_public(node)]
    methods = [
        (owner.name, name)
        for owner in tree.body
        if isinstance(owner, ast.ClassDef)
        for name in _methods(owner)
    ]
    return {
        about: solution + _ENDING.format(pytree=PYTREE, body=body, functions=functions, methods=methods)
        for about, body in KINDS.items()
    }


def _methods(owner: ast.ClassDef) -> list[str]:
    plain = [node for node in owner.body if isinstance(node, _FUNCTIONS) and not node.decorator_list]
    public = [node.name for node in plain if _is_public(node)]
    return public or [n.name for n in plain if n.name.endswith("__") and n.name != "__init__"]


def _is_public(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, _FUNCTIONS) and not node.name.startswith("_")
