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
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
import torch

from grader.engine import _compat
from grader.engine.integrity import words
from grader.engine.integrity.spaces import Look, Space

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
    *_compat.WATCHED,
    "base64",
    "json",
    "weakref",
    "builtins",
    "math",
    "operator",
)

_ROOTS = ("grader.engine.child", "grader.engine.integrity.guard")
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


class Guard:
    """A snapshot of the namespaces that judging relies on: `suites` holds each exercise's own modules.

    Judging starts at the modules `roots`. Suites that are not imported yet will use names `mentioned` of the
    modules `used`.
    """

    def __init__(
        self,
        suites: Mapping[str, Sequence[ModuleType]],
        roots: Sequence[str] = _ROOTS,
        used: Sequence[str] = (),
        mentioned: Iterable[str] = (),
    ) -> None:
        every = [module for modules in suites.values() for module in modules]
        ours = _reached([*(sys.modules[name] for name in roots if name in sys.modules), *every], roots)
        mentioned = _mentioned([*ours, *every]).union(_TEMPTING, mentioned)
        others = {name: vars(sys.modules[name]) for name in (*_MODULES, *used) if name in sys.modules}
        classes = [cls for each in _CLASSES for cls in each.__mro__[:-1]]
        for space in (*others.values(), *map(vars, classes)):
            for name in mentioned & space.keys():
                mentioned = mentioned | _names_in(_code(space[name]))
        shared = [space_of_module(module) for module in ours]
        shared += [_space(name, names, _fixed(names) & mentioned) for name, names in others.items()]
        shared += [_space_of_class(cls, mentioned) for cls in classes]
        whole = [*(cls for module in ours for cls in _classes_of(module)), *_WHOLE_CLASSES]
        shared += [_space_of_class(cls) for cls in whole]
        self._shared = Look(shared)
        self._suites = {slug: Look(map(space_of_module, own)) for slug, own in suites.items()}

    def looks(self, slug: str) -> tuple[Look, ...]:
        """At what all exercises rely on, and at what this one does."""
        return (self._shared, self._suites[slug]) if slug in self._suites else (self._shared,)

    def broken(self, slug: str) -> str | None:
        """The first known name that now stands for something else, or None."""
        return next(filter(None, (look.broken() for look in self.looks(slug))), None)


def _reached(known: Sequence[ModuleType], roots: Sequence[str]) -> list[ModuleType]:
    """The modules of this package that the code of known ones can come by, with those that are `roots`."""
    rest = list(known)
    found = {module.__name__: module for module in rest if module.__name__ in roots}
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


def space_of_module(module: ModuleType) -> Space:
    """What a module defines and imports, but for its state."""
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
    return space._replace(hidden_by_new=inherited - _FOR_SHOW)


def _has_compiled() -> bool:
    return _compat.is_wrapped(torch.manual_seed)


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
