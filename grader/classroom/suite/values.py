"""Classes of the student's own whose values equal what they do not: tests compare answers where they run.

Each class that has come since, and says how it is compared, is tried once: a value of it that equals two
different things in one of the ways in which tests compare lies, whatever it says elsewhere.
"""

import builtins
import math
import operator
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import torch

from grader.course import paths

_MADE_OF: tuple[tuple[type, object], ...] = (
    *((np.float64, 1.25), (float, 1.25), (int, 1), (complex, 1.25), (str, "one"), (bytes, b"one")),
    *((tuple, (1, 2)), (list, ()), (dict, ()), (set, ()), (frozenset, ())),
)
"""Plain kinds of values, and what one is made of."""
_PAIRS: tuple[tuple[Any, Any], ...] = (
    *((7.5, 3.25), ("other", "third"), ([7], [3]), (object(), object())),
    (np.full(2, 7.5), np.full(2, 3.25)),
    (torch.full((2,), 7.5), torch.full((2,), 3.25)),
)
"""Nothing equals both."""
_COMPARE: tuple[Callable[[Any, Any], object], ...] = (
    lambda a, b: a == b,
    lambda a, b: b == a,
    lambda a, b: not operator.ne(a, b),
    lambda a, b: (a == b).all(),
    lambda a, b: abs(a - b) < 1,
    lambda a, b: (a - b).abs().max() < 1,
    lambda a, b: math.isclose(a, b),
    lambda a, b: np.allclose(a, b),
    lambda a, b: np.array_equal(a, b),
    lambda a, b: np.testing.assert_allclose(a, b) is None,
    lambda a, b: torch.allclose(a, b),
    lambda a, b: torch.equal(a, b),
    lambda a, b: torch.testing.assert_close(a, b) is None,
)
_ASKED = frozenset(
    {
        *(
            "__eq__",
            "__ne__",
            "__sub__",
            "__rsub__",
            "__abs__",
            "__float__",
            "__getattribute__",
            "__getattr__",
        ),
        *("__array__", "__array_ufunc__", "__array_function__", "__torch_function__", "__torch_dispatch__"),
        *("all", "allclose", "equal"),
    }
)
"""What a comparison asks of a value."""
_build: Callable[..., type] = builtins.__build_class__
_built: list[type] = []
"""The classes that `class` has made, in their order."""


def watch() -> None:
    """See from now on which classes are made."""

    def build(*parts: Any, **options: Any) -> type:
        made = _build(*parts, **options)
        if isinstance(made, type):  # which a metaclass need not make
            _built.append(made)
        return made

    builtins.__build_class__ = build


_INSTALLED = (
    "<frozen ",
    *map(str, {sys.prefix, sys.base_prefix, Path(torch.__file__).parents[1], paths.PACKAGE}),
)


class Values:
    """What classes there are, and whether one that is new lies; `is_suites` knows the files of the suite."""

    def __init__(self, is_suites: Callable[[str], bool]) -> None:
        self._is_suites = is_suites
        self._seen = len(_built)
        self._known = {
            id(cls): cls for cls in _classes_of_numbers()
        }  # held, so that no other takes its number

    def lying(self) -> str | None:
        """The name of a class of the student's that is new and lies."""
        new = [cls for cls in (*_built[self._seen :], *_classes_of_numbers()) if id(cls) not in self._known]
        self._seen = len(_built)
        self._known.update((id(cls), cls) for cls in new)
        lying = (cls for cls in new if _ASKED & vars(cls).keys() and self._is_students(cls) and _lies(cls))
        return next((f"{cls.__module__}.{cls.__qualname__}" for cls in lying), None)

    def _is_students(self, cls: type) -> bool:
        functions = (getattr(each, "__func__", each) for each in vars(cls).values())
        files = {each.__code__.co_filename for each in functions if isinstance(each, FunctionType)}
        files.add(getattr(sys.modules.get(cls.__module__), "__file__", None) or _INSTALLED[0])
        return any(not file.startswith(_INSTALLED) and not self._is_suites(file) for file in files)


def _classes_of_numbers() -> Iterator[type]:
    """The classes of tensors and numbers, however they were made."""
    rest: list[type] = [torch.Tensor, np.ndarray, float, int, complex]
    while rest:
        below: list[type] = type.__subclasses__(rest.pop())
        yield from below
        rest += below


def _lies(cls: type) -> bool:
    try:
        one = _value(cls)
    except Exception:
        return False
    return any(all(_holds(compare, one, other) for other in pair) for compare in _COMPARE for pair in _PAIRS)


def _value(cls: type) -> object:
    """A value of the class that its own code has not made; raises whatever it likes."""
    if issubclass(cls, torch.Tensor):
        return torch.full((2,), 1.25).as_subclass(cls)
    if issubclass(cls, np.ndarray):
        return np.full(2, 1.25).view(cls)
    of = next(((kind, value) for kind, value in _MADE_OF if issubclass(cls, kind)), None)
    make: Callable[..., object] = of[0].__new__ if of else object.__new__
    return make(cls, of[1]) if of else make(cls)


def _holds(compare: Callable[[Any, Any], object], one: object, other: object) -> bool:
    try:
        return bool(compare(one, other))
    except Exception:
        return False
