"""Answers made of a solution: every public function and method is replaced, when the answer is loaded.

What stands in gets the function that it replaces, without `self`, and the arguments of the call. Of a class
without public methods, such as a dataset, the special ones are replaced; `__init__` where it is asked for.
"""

import ast
import inspect
from collections.abc import Callable, Iterable, MutableMapping
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, TypeGuard

from grader.course import project
from grader.course.exercise import Exercise

StandIn = Callable[..., Any]

_inside = ContextVar("_inside", default=False)
"""Whether this call is made by what another one stands in for: only what a suite calls is replaced."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALL = """

from grader.authoring import {kinds} as _kinds, stand_in as _stand_in
_stand_in.put(globals(), _kinds.KINDS[{about!r}], {functions!r}, {methods!r})
"""


def answer(exercise: Exercise, kinds: str, about: str, *, constructors: bool = False) -> bytes:
    """The solution, where something stands in for all functions: `grader.authoring.<kinds>.KINDS[about]`."""
    solution = exercise.content("solutions")
    change = partial(text, kinds=kinds, about=about, constructors=constructors)
    if exercise.is_project:
        return project.changed(solution, change)
    return change(solution.decode("utf-8")).encode()


def text(solution: str, kinds: str, about: str, *, constructors: bool = False) -> str:
    """The same of a text."""
    body = ast.parse(solution).body
    functions = [node.name for node in body if _is_public(node)]
    owners = [node for node in body if isinstance(node, ast.ClassDef)]
    methods = [(owner.name, name) for owner in owners for name in _methods(owner, constructors)]
    return solution + _CALL.format(kinds=kinds, about=about, functions=functions, methods=methods)


def put(
    names: MutableMapping[str, Any],
    make: StandIn,
    functions: Iterable[str],
    methods: Iterable[tuple[str, str]],
) -> None:
    """Replace these functions of a module, and these methods of its classes."""
    for name in functions:
        names[name] = _in_place_of(names[name], make, 0)
    for owner, name in methods:
        setattr(names[owner], name, _in_place_of(getattr(names[owner], name), make, 1))


def _in_place_of(real: Callable[..., Any], make: StandIn, own: int) -> Callable[..., Any]:
    @wraps(real)
    def stands_in(*args: Any, **kwargs: Any) -> Any:
        if _inside.get():
            return real(*args, **kwargs)
        before = _inside.set(True)
        try:
            return make(partial(real, *args[:own]), *args[own:], **kwargs)
        finally:
            _inside.reset(before)

    @wraps(real)
    async def later(*args: Any, **kwargs: Any) -> Any:
        result = stands_in(*args, **kwargs)
        return await result if inspect.iscoroutine(result) else result

    return later if inspect.iscoroutinefunction(real) else stands_in


def _methods(owner: ast.ClassDef, constructors: bool) -> list[str]:
    plain = [node for node in owner.body if isinstance(node, _FUNCTIONS) and not node.decorator_list]
    public = [node.name for node in plain if _is_public(node)]
    special = [node.name for node in plain if node.name.endswith("__") and node.name != "__init__"]
    made = [node.name for node in plain if node.name == "__init__" and constructors]
    return [*made, *(public or special)]


def _is_public(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, _FUNCTIONS) and not node.name.startswith("_")
