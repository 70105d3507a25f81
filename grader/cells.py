"""An answer's text, put together from what a notebook's cells have defined.

The answer is judged in a process of its own, so it must be complete: the functions and classes that the
exercise asks for, whatever they use, and the imports and plain constants behind these.
"""

import ast
import inspect
import linecache
import sys
import textwrap
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import torch

from grader.catalog import Exercise
from grader.errors import KataError
from grader.statements import asked_for

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
    gathering = _Gathering(namespace, there)
    for name in there:
        gathering.add(name)
    return "\n\n\n".join(["\n".join(gathering.head), *gathering.definitions]) + "\n"


class _Gathering:
    def __init__(self, namespace: Mapping[str, Any], wanted: Sequence[str]) -> None:
        self.namespace = namespace
        self.wanted = wanted
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
        elif _is_own(value, self.namespace) or not self._import(name, value):
            self._define(name, value)

    def _define(self, name: str, value: Any) -> None:
        try:
            source, is_whole = _source(name, value, self.namespace)
        except KataError:
            if name in self.wanted or _is_own(value, self.namespace):
                raise
            return  # nothing of the learner's, such as IPython's own `exit`
        for used in _names_in(source):
            self.add(used)
        self.definitions.append(source.rstrip())
        if not is_whole:
            self.definitions.append(f"{name} = {value.__name__}")

    def _import(self, name: str, value: Any) -> bool:
        """Import `name` from where it is known under a name; False where there is no such place."""
        module, attribute = getattr(value, "__module__", None), getattr(value, "__name__", None)
        places = (
            (module, attribute),
            ("torch", attribute),
            ("jaxtyping", name),
            ("typing", name),
            (module, name),
        )
        for home, inner in places:
            is_there = isinstance(home, str) and isinstance(inner, str) and home != "__main__"
            if is_there and getattr(sys.modules.get(str(home)), str(inner), None) is value:
                self.head.append(f"from {home} import {inner} as {name}")
                return True
        return False


def _source(name: str, value: Any, namespace: Mapping[str, Any]) -> tuple[str, bool]:
    """The text that made `value`, and whether running it also gives it this name."""
    try:
        source = _class_source(value) if inspect.isclass(value) else textwrap.dedent(inspect.getsource(value))
        (made,) = ast.parse(source).body
    except (OSError, TypeError, ValueError, SyntaxError, StopIteration, IndexError):
        pass
    else:
        if isinstance(made, (ast.FunctionDef, ast.ClassDef)):
            return source, made.name == name
    # A lambda, a tensor, a dataclass: look for the statement, among the cells that were run.
    found = _statement(name, namespace)
    if found is None:
        raise KataError(f"the source of {name} cannot be found; define it in a cell, then check again")
    return found, True


def _class_source(value: type) -> str:
    # inspect looks for a class in its module's file, and a notebook has none; its methods know their cell.
    method = next(member for member in vars(value).values() if inspect.isfunction(member))
    text = "".join(linecache.getlines(method.__code__.co_filename))
    found = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == value.__name__]
    return _text(found[-1], text)


def _statement(name: str, namespace: Mapping[str, Any]) -> str | None:
    """The last statement of a cell that gave `name` its value."""
    for cell in reversed([text for text in namespace.get("In", ()) if isinstance(text, str)]):
        try:
            body = ast.parse(cell).body
        except (SyntaxError, ValueError):  # such as a cell with a magic command
            continue
        for statement in reversed(body):
            if name in _named_by(statement):
                return _text(statement, cell)
    return None


def _named_by(statement: ast.stmt) -> list[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _text(statement: ast.stmt, cell: str) -> str:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(d.lineno for d in decorators)])
    return "\n".join(cell.splitlines()[first - 1 : statement.end_lineno])


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
