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

import ctypes
import gc
import inspect
import itertools
import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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

# Bound once: an answer may replace the builtins, and is found out by what is bound here.
_tuple, _map, _code_of = tuple, map, operator.attrgetter("__code__")
_chained = itertools.chain.from_iterable


@dataclass(frozen=True)
class Space:
    """Names of a module or class and what they stood for; of functions also the code, which can change."""

    name: str
    now: Mapping[str, Any]
    names: tuple[str, ...]
    values: tuple[Any, ...]
    functions: tuple[FunctionType, ...]
    codes: tuple[CodeType, ...]
    hidden_by_new: frozenset[str]
    size: int

    def broken(self) -> str | None:
        """The first of its names that stands for something else, or None."""
        for name, value in zip(self.names, self.values, strict=True):
            if self.now.get(name) is not value:
                return f"{self.name}.{name}"
        for function, code in zip(self.functions, self.codes, strict=True):
            if function.__code__ is not code:
                return f"{self.name}.{function.__name__}"
        hiding = sorted(self.hidden_by_new & self.now.keys())
        return f"{self.name}.{hiding[0]}" if hiding else None


class Look:
    """Several spaces, looked at in one go: most of the time of a loop over them would be the loop's own."""

    def __init__(self, spaces: Iterable[Space]) -> None:
        self._spaces = tuple(space for space in spaces if space.names)
        # The first name twice: of a single one, itemgetter gives no tuple.
        names = [(space.names[0], *space.names) for space in self._spaces]
        self._getters = [(operator.itemgetter(*n), s.now) for n, s in zip(names, self._spaces, strict=True)]
        self._values = _Objects(_chained((s.values[0], *s.values) for s in self._spaces))
        self._functions = tuple(_chained(s.functions for s in self._spaces))
        self._codes = _Objects(_chained(s.codes for s in self._spaces))
        self._classes = tuple(s for s in self._spaces if s.hidden_by_new)
        self._sizes = [s.size for s in self._classes]

    def settle(self) -> None:
        """Take the names that classes have gained since for known, unless one hides what was known."""
        if self.broken() is None:
            self._sizes = [len(s.now) for s in self._classes]

    def broken(self) -> str | None:
        """The first known name that now stands for something else, or None."""
        return None if self._holds() else next(filter(None, (s.broken() for s in self._spaces)), None)

    def _holds(self) -> bool:
        try:
            values = _tuple(_chained([get(now) for get, now in self._getters]))
        except KeyError:
            return False
        codes = _tuple(_map(_code_of, self._functions))
        sizes = [len(s.now) for s in self._classes]
        return self._values.are(values) and self._codes.are(codes) and sizes == self._sizes


class _Objects:
    """Which objects a tuple held, compared by their addresses in its memory.

    `==` would ask the objects themselves whether they are equal, and an answer's may say so; asking
    for each whether it is the same takes five times as long.
    """

    def __init__(self, objects: Iterable[object]) -> None:
        self._kept = tuple(objects)  # or another object could come to lie at an address
        self._memory = ctypes.c_char * (len(self._kept) * tuple.__itemsize__)
        self._addresses = self._in(self._kept)

    def _in(self, objects: tuple[object, ...]) -> bytes:
        return self._memory.from_address(id(objects) + tuple.__basicsize__).raw

    def are(self, objects: tuple[object, ...]) -> bool:
        """`objects`, of which there are as many, are the same ones in the same order."""
        return self._in(objects) == self._addresses


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
        shared = [_space(m.__name__, vars(m)) for m in ours]
        shared += [_space(name, names, mentioned) for name, names in others.items()]
        self._shared = Look([*shared, *(_space_of_class(cls, mentioned) for cls in classes)])
        self._suites = {slug: Look(_space(m.__name__, vars(m)) for m in own) for slug, own in suites.items()}

    def settle(self) -> None:
        """Call this once before the answer is imported, after what adds names to torch's classes.

        Grown classes are looked at name by name, which takes three times as long.
        """
        self._shared.settle()

    def broken(self, slug: str) -> str | None:
        """The first known name that now stands for something else, or None."""
        own = self._suites.get(slug)
        return self._shared.broken() or (own.broken() if own else None)


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


def _space(name: str, names: Mapping[str, Any], only: Iterable[str] | None = None) -> Space:
    open_to_torch = set() if _has_compiled() else _REPLACED_BY_TORCH.get(name, set())
    kept = {
        n: v
        for n, v in names.items()
        if (only is None or n in only) and n not in open_to_torch and _is_member(v)
    }
    functions = tuple(v for v in kept.values() if isinstance(v, FunctionType))
    codes = tuple(f.__code__ for f in functions)
    return Space(name, names, tuple(kept), tuple(kept.values()), functions, codes, frozenset(), len(names))


def _space_of_class(cls: type, mentioned: frozenset[str]) -> Space:
    names = vars(cls)
    special = {name for name in names if name.startswith("__")}
    space = _space(f"{cls.__module__}.{cls.__qualname__}", names, mentioned | special)
    inherited = frozenset(name for base in cls.__mro__[1:] for name in vars(base)) - names.keys()
    return replace(space, hidden_by_new=inherited)


def _has_compiled() -> bool:
    return hasattr(torch.manual_seed, "_torchdynamo_orig_callable")


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


def freeze() -> None:
    """Keep the collector away from what exists now: children then share the parent's memory."""
    gc.collect()
    gc.freeze()
