"""Known-good references to everything that suites and checks call, and whether they still hold.

An answer shares its process with the checks, so it can replace `torch.allclose` or a check itself.
The references are taken before any answer is imported, and compared after the import and after each
check. New names are fine (torch adds some when modules load), unless they hide one that a class
inherits; a known name that stands for another object is not.
"""

import builtins
import gc
import math
import operator
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch

_CLASSES: tuple[type, ...] = (torch.Tensor, torch.nn.Module, torch.autograd.Function, torch.Generator)
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
)


@dataclass(frozen=True)
class Member:
    """A name, what it stands for, and its code: a function can be kept and its code replaced."""

    name: str
    value: object
    code: CodeType | None


@dataclass(frozen=True)
class Space:
    """A module's or class's namespace as it was."""

    name: str
    names: Mapping[str, Any]
    members: tuple[Member, ...]
    inherited: frozenset[str]
    size: int

    def broken(self) -> str | None:
        """The first of its names that stands for something else, or None."""
        get = self.names.get
        for member in self.members:
            now = get(member.name)
            kept = member.code is None or getattr(now, "__code__", None) is member.code
            if now is not member.value or not kept:
                return f"{self.name}.{member.name}"
        if self.inherited and len(self.names) != self.size:
            known = {member.name for member in self.members}
            hiding = sorted((self.inherited & self.names.keys()) - known)
            return f"{self.name}.{hiding[0]}" if hiding else None
        return None


class Guard:
    """A snapshot of the namespaces that judging relies on."""

    def __init__(self, suites: list[ModuleType]) -> None:
        known = [sys.modules[name] for name in _MODULES if name in sys.modules]
        ours = [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "grader"]
        modules = [*known, *ours, *suites, builtins, math, operator]
        self._spaces = [_space_of_module(module) for module in modules]
        self._spaces += [_space_of_class(cls) for each in _CLASSES for cls in each.__mro__[:-1]]

    def broken(self) -> str | None:
        """The first known name that now stands for something else, or None."""
        for space in self._spaces:
            if found := space.broken():
                return found
        return None


def _space_of_module(module: ModuleType) -> Space:
    names = vars(module)
    return Space(module.__name__, names, tuple(_members(names)), frozenset(), len(names))


def _space_of_class(cls: type) -> Space:
    names = vars(cls)
    inherited = frozenset(name for base in cls.__mro__[1:] for name in vars(base)) - names.keys()
    return Space(f"{cls.__module__}.{cls.__qualname__}", names, tuple(_members(names)), inherited, len(names))


def _members(names: Mapping[str, Any]) -> Iterator[Member]:
    for name, value in names.items():
        if callable(value) or hasattr(type(value), "__get__"):
            yield Member(name, value, value.__code__ if isinstance(value, FunctionType) else None)


def freeze() -> None:
    """Keep the collector away from what exists now: children then share the parent's memory."""
    gc.collect()
    gc.freeze()
