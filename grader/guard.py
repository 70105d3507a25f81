"""Known-good references to everything that suites and checks call, and whether they still hold.

An answer shares its process with the checks, so it can replace `torch.allclose` or a check itself.
The references are taken before any answer is imported, and compared after the import and after each
check. New names are fine (torch adds some when modules load), unless they hide one that a class
inherits; a known name that stands for another object is not.

Comparing costs time in every child, and the more names the more: each one that is looked at is a bit of
memory that the child stops sharing with its parent. So of torch, pytest and Python only the names are kept
that our code mentions, or the functions that it calls there; of the suites only those of the exercise. What
nobody mentions can be replaced without gain: the oracle is computed elsewhere.
"""

import inspect
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
import torch

from grader import words

_CLASSES: tuple[type, ...] = (torch.Tensor, torch.nn.Module, torch.autograd.Function, torch.Generator)
_WHOLE_CLASSES: tuple[type, ...] = (
    pytest.CallInfo,
    pytest.ExceptionInfo,
    pytest.Function,
    pytest.MonkeyPatch,
    json.JSONDecoder,
    json.JSONEncoder,
)
"""By these a check is run and its outcome written; all that they have is looked at."""

_MODULES = (
    "torch",
    "torch.autograd",
    "torch.autograd.functional",
    "torch.autograd.grad_mode",
    "torch.func",
    "torch.linalg",
    "torch.nn",
    "torch.nn.functional",
    "torch.optim",
    "torch.overrides",
    "torch.testing",
    "torch.utils._python_dispatch",
    "torch.utils._pytree",
    "_pytest.runner",
    "_pytest.python",
    "_pytest.outcomes",
    "base64",
    "json",
    "weakref",
    "builtins",
    "math",
    "operator",
)

_ROOTS = ("grader.child", "grader.guard")
"""Where judging starts: with the suites, these use all of ours that a child uses."""

_REPLACED_BY_TORCH = {
    "torch": {"manual_seed"},
    "torch.nn.modules.module.Module": {"__init__", "__setstate__"},
}
"""What torch's first compilation in a process replaces; it may be an answer that starts it."""

_TEMPTING = {"allclose", "assert_close", "eq", "equal", "isclose", "isfinite", "isnan", "ne", "randn"}
"""Looked at even where our code does without: what people replace who think that we compare with it."""

_FOR_SHOW = {"__format__", "__repr__", "__str__"}
"""Free to be replaced: people do it to see shapes in a debugger, and nothing is judged by them."""


@dataclass(frozen=True)
class Space:
    """Names of a module or class and what they stood for; of functions also what they are made of."""

    name: str
    now: Mapping[str, Any]
    names: tuple[str, ...]
    values: tuple[Any, ...]
    functions: tuple[FunctionType, ...]
    made_of: tuple[tuple[object, ...], ...]
    hidden_by_new: frozenset[str]

    def broken(self) -> str | None:
        """The first of its names that stands for something else, or None."""
        for name, value in zip(self.names, self.values, strict=True):
            if self.now.get(name) is not value:
                return f"{self.name}.{name}"
        for function, parts in zip(self.functions, self.made_of, strict=True):
            now = words.parts(function)
            if any(a is not b for a, b in zip(now, parts, strict=True) if b is not None):
                return f"{self.name}.{function.__name__}"
        hiding = sorted(self.hidden_by_new & self.now.keys())
        return f"{self.name}.{hiding[0]}" if hiding else None


class _Watched:
    """A space, and the words of memory in which it would show that it changes."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.broken = space.broken
        self.remember()

    def remember(self) -> None:
        space = self.space
        self.layout = words.of_layout(space.now, growing=not space.hidden_by_new)
        values = words.of_values(space.now, space.names), words.of_code(space.functions)
        self.values = words.Words.joined(values)
        self.same_layout, self.same_values = self.layout.hold, self.values.hold


class Look:
    """Several spaces, looked at in one go: most of the time of a loop over them would be the loop's own.

    The methods that it takes are bound beforehand: an answer can replace what their class has.
    """

    def __init__(self, spaces: Iterable[Space]) -> None:
        self._watched = [_Watched(space) for space in spaces if space.names]
        self._join()

    def broken(self) -> str | None:
        """The first known name that now stands for something else, or None."""
        # In this order: where the layout has changed, the values lie elsewhere.
        if self._same_layout() and self._same_values():
            return None
        for each in self._watched:
            if not (each.same_layout() and each.same_values()):
                name = each.broken()
                if name is not None:
                    return name
                each.remember()
        self._join()
        return None

    def _join(self) -> None:
        self._same_layout = words.Words.joined([each.layout for each in self._watched]).hold
        self._same_values = words.Words.joined([each.values for each in self._watched]).hold


class Guard:
    """A snapshot of the namespaces that judging relies on: `suites` holds each exercise's own modules."""

    def __init__(self, suites: Mapping[str, Sequence[ModuleType]]) -> None:
        every = [module for modules in suites.values() for module in modules]
        ours = _reached([*(sys.modules[name] for name in _ROOTS if name in sys.modules), *every])
        mentioned = _mentioned([*ours, *every]) | _TEMPTING
        others = {name: vars(sys.modules[name]) for name in _MODULES if name in sys.modules}
        classes = [cls for each in _CLASSES for cls in each.__mro__[:-1]]
        for space in (*others.values(), *map(vars, classes)):
            for name in mentioned & space.keys():
                mentioned = mentioned | _names_in(_code(space[name]))
        shared = [_space_of_module(module) for module in ours]
        shared += [_space(name, names, _fixed(names) & mentioned) for name, names in others.items()]
        shared += [_space_of_class(cls, mentioned) for cls in classes]
        whole = [*(cls for module in ours for cls in _classes_of(module)), *_WHOLE_CLASSES]
        shared += [_space_of_class(cls) for cls in whole]
        self._shared = Look(shared).broken
        self._suites = {
            slug: Look(_space_of_module(module) for module in own).broken for slug, own in suites.items()
        }

    def broken(self, slug: str) -> str | None:
        """The first known name that now stands for something else, or None."""
        own = self._suites.get(slug)
        return self._shared() or (own() if own else None)


def _reached(roots: Sequence[ModuleType]) -> list[ModuleType]:
    """The modules of this package that the roots' code can come by."""
    rest = list(roots)
    found = {module.__name__: module for module in rest if module.__name__ in _ROOTS}
    while rest:
        for value in vars(rest.pop()).values():
            name = str(value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", ""))
            module = sys.modules.get(name)
            if module is not None and name.split(".")[0] == "grader" and name not in found:
                found[name] = module
                rest.append(module)
    return list(found.values())


def _space(name: str, names: Mapping[str, Any], chosen: Iterable[str]) -> Space:
    open_to_torch = set() if _has_compiled() else _REPLACED_BY_TORCH.get(name, set())
    kept = {n: names[n] for n in chosen if n not in open_to_torch}
    functions = tuple(v for v in kept.values() if isinstance(v, FunctionType))
    made_of = tuple(map(words.parts, functions))
    return Space(name, names, tuple(kept), tuple(kept.values()), functions, made_of, frozenset())


def _space_of_module(module: ModuleType) -> Space:
    return _space(module.__name__, vars(module), _fixed(vars(module)))


def _classes_of(module: ModuleType) -> list[type]:
    """The classes that a module defines."""
    values = vars(module).values()
    return [v for v in values if isinstance(v, type) and v.__module__ == module.__name__]


def _space_of_class(cls: type, mentioned: frozenset[str] | None = None) -> Space:
    """The names of a class that are mentioned or special, or all; without those that only show it."""
    names = vars(cls)
    special = {name for name in names if name.startswith("__")}
    watched = names.keys() if mentioned is None else _fixed(names) & (mentioned | special)
    space = _space(f"{cls.__module__}.{cls.__qualname__}", names, watched - _FOR_SHOW)
    inherited = frozenset(name for base in cls.__mro__[1:] for name in vars(base)) - names.keys()
    return replace(space, hidden_by_new=inherited - _FOR_SHOW)


def _has_compiled() -> bool:
    return hasattr(torch.manual_seed, "_torchdynamo_orig_callable")


def _fixed(names: Mapping[str, Any]) -> set[str]:
    """The names that no honest work changes: functions, classes, modules and constants, but no state."""
    return {n for n, v in names.items() if n.isupper() or isinstance(v, ModuleType) or _is_member(v)}


def _is_member(value: object) -> bool:
    return callable(value) or hasattr(type(value), "__get__")


def _mentioned(modules: Iterable[ModuleType]) -> frozenset[str]:
    """Every name that the functions of these modules use."""
    found: set[str] = set()
    for module in modules:
        for value in vars(module).values():
            parts = vars(value).values() if isinstance(value, type) else (value,)
            for part in parts:
                found |= _names_in(_code(part))
    return frozenset(found)


def _code(value: object) -> CodeType | None:
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    if isinstance(value, property):
        value = value.fget
    inner = inspect.unwrap(value) if isinstance(value, FunctionType) else None
    return inner.__code__ if isinstance(inner, FunctionType) else None


def _names_in(code: CodeType | None) -> frozenset[str]:
    if code is None:
        return frozenset()
    inner = (_names_in(const) for const in code.co_consts if isinstance(const, CodeType))
    return frozenset(code.co_names).union(*inner)
