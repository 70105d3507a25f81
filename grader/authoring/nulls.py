"""Null answers: the right names and signatures, and nothing behind them.

An audit reads what there are; torch is imported where they run.
"""

import contextlib
import copy
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from grader.authoring.stand_in import StandIn


def _first(_: object, /, *args: Any, **kwargs: Any) -> Any:
    return [*args, *kwargs.values(), None][0]


def _zeros(real: "partial[Any]", /, *args: Any, **kwargs: Any) -> Any:
    zero = partial(_zero, real.func.__module__)
    return zero(real.func(*_own((*real.args, *args)), **_own(kwargs)))


KINDS: Mapping[str, StandIn] = {
    "returns None": lambda real, /, *args, **kwargs: None,
    "returns its first argument": _first,
    "returns zeros of the right shape": _zeros,
}


def _zero(module: str, result: Any) -> Any:
    from grader.authoring._compat import tree_map

    return tree_map(partial(_zero_leaf, module), result)


def _zero_leaf(module: str, leaf: Any) -> Any:
    import torch

    zero = partial(_zero, module)
    if isinstance(leaf, torch.Tensor):
        return torch.zeros_like(leaf)
    if type(leaf).__module__ == module and hasattr(leaf, "__dict__"):  # of a class of the answer's own
        empty = copy.copy(leaf)
        plain = {n: v for n, v in vars(leaf).items() if isinstance(v, (torch.Tensor, int, float, str))}
        vars(empty).update({name: zero(value) for name, value in plain.items()})
        return empty
    if type(leaf) in (bool, int, float, str):
        return type(leaf)()
    if inspect.iscoroutine(leaf):
        return _later(zero, leaf)
    if inspect.isfunction(leaf) and not inspect.iscoroutinefunction(leaf):
        return lambda *args, **kwargs: zero(leaf(*args, **kwargs))
    if hasattr(leaf, "__enter__"):  # a context: to be entered, and nothing happens
        return contextlib.nullcontext()
    many = hasattr(leaf, "__iter__") or hasattr(leaf, "__getitem__")  # a generator, a loader, a dataset
    return iter(()) if many else leaf


async def _later(zero: Callable[[Any], Any], result: Any) -> Any:
    return zero(await result)


def _own(given: Any) -> Any:
    """What the real function may change in the caller's place, where it can be copied."""
    try:
        return copy.deepcopy(given)
    except Exception:
        return given
