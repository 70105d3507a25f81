"""An answer's text, put together from what a notebook's cells have defined.

The answer is judged in a process of its own, so it must be complete: the functions and classes that the
exercise asks for, whatever they use, and the imports and plain constants behind these.
"""

import ast
import inspect
import linecache
import sys
import textwrap
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import torch

from grader.catalog import Exercise
from grader.errors import KataError

_PLAIN = (bool, int, float, str, bytes, type(None))


def answer(exercise: Exercise, namespace: Mapping[str, Any]) -> str:
    """The answer that `namespace` holds, as the text of a module.

    Raises:
        KataError: none of the names that the exercise asks for is defined, or one has no source.
    """
    wanted = asked_for(exercise.file("exercises").read_text("utf-8"))
    there = [name for name in wanted if name in namespace]
    if not there:
        raise KataError(f"no cell defines {' or '.join(wanted)}; run the cell that does, then check again")
    gathering = _Gathering(namespace)
    for name in there:
        gathering.add(name)
    return "\n\n\n".join(["\n".join(gathering.head), *gathering.definitions]) + "\n"


def asked_for(stub: str) -> list[str]:
    """The public functions and classes of a stub."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [n.name for n in ast.parse(stub).body if isinstance(n, kinds) and not n.name.startswith("_")]


class _Gathering:
    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace
        self.seen: set[str] = set()
        self.head: list[str] = []
        self.definitions: list[str] = []

    def add(self, name: str) -> None:
        """Add what `name` stands for, after all that it uses."""
        if name in self.seen or name not in self.namespace:
            return
        self.seen.add(name)
        value = self.namespace[name]
        if isinstance(value, ModuleType):
            self.head.append(f"import {value.__name__} as {name}")
        elif isinstance(value, (torch.dtype, torch.device)):
            self.head += ["import torch", f"{name} = {value!r}".replace("= device", "= torch.device")]
        elif _is_plain(value):
            self.head.append(f"{name} = {value!r}")
        elif _is_own(value, self.namespace):
            self._define(name, value)
        else:
            self._import(name, value)

    def _define(self, name: str, value: Any) -> None:
        try:
            source = _source(value)
        except (OSError, TypeError, SyntaxError, StopIteration, IndexError):
            raise KataError(
                f"the source of {name} cannot be found; define it in a cell, then check again"
            ) from None
        for used in _names_in(source):
            self.add(used)
        self.definitions.append(source.rstrip())
        if value.__name__ != name:
            self.definitions.append(f"{name} = {value.__name__}")

    def _import(self, name: str, value: Any) -> None:
        module, attribute = getattr(value, "__module__", None), getattr(value, "__name__", None)
        for home, inner in ((module, attribute), ("torch", attribute), ("jaxtyping", name), ("typing", name)):
            if home and inner and getattr(sys.modules.get(home), inner, None) is value:
                self.head.append(f"from {home} import {inner} as {name}")
                return


def _source(value: Any) -> str:
    """The text of a function or class that a cell defined."""
    if not inspect.isclass(value):
        return textwrap.dedent(inspect.getsource(value))
    # inspect looks for a class in its module's file, and a notebook has none; its methods know their cell.
    method = next(member for member in vars(value).values() if inspect.isfunction(member))
    text = "".join(linecache.getlines(method.__code__.co_filename))
    found = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == value.__name__]
    first = min([found[-1].lineno, *(d.lineno for d in found[-1].decorator_list)])
    return "\n".join(text.splitlines()[first - 1 : found[-1].end_lineno])


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(_is_plain(item) for item in value)
    return isinstance(value, _PLAIN)


def _is_own(value: Any, namespace: Mapping[str, Any]) -> bool:
    """Whether the notebook itself defined it."""
    callable_ = inspect.isfunction(value) or inspect.isclass(value)
    return callable_ and getattr(value, "__module__", None) == namespace.get("__name__")


def _names_in(source: str) -> list[str]:
    return sorted({node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)})
