"""What came back is no tensor where one is wanted, or the reverse: what the two have in common."""

import inspect
import itertools
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from grader.diagnose.causes.evidence import make_evidence
from grader.diagnose.describe import is_tensor, readable

MOST_ITEMS = 64


def cause_of_type(yours: Any, wanted: Tensor, rtol: float, atol: float) -> str | None:
    """`wanted` is an ordinary tensor on the CPU."""
    kind = type(yours)
    if yours is None:
        return "does the function end with `return`?"
    if issubclass(kind, np.ndarray):
        return "a NumPy array: stay in torch, or end with torch.from_numpy(...)"
    if told := uncalled(yours):
        return told
    if kind in (bool, int, float, complex):
        return "a Python number: return the tensor itself, without .item()" if wanted.ndim == 0 else None
    if kind is range:
        return "a Python range: torch.arange counts likewise, and makes a tensor"
    if not issubclass(kind, (list, tuple)):
        return None
    base = list if issubclass(kind, list) else tuple
    items = list(itertools.islice(base.__iter__(yours), MOST_ITEMS + 1))
    if items and all(type(item) in (bool, int, float, list) for item in items):
        return "a Python list: return a tensor, without .tolist(), or made by torch.tensor(…)"
    if not items or len(items) > MOST_ITEMS or not all(map(is_tensor, items)):
        return None
    return _among(kind, [readable(item) for item in items], wanted, rtol, atol)


def uncalled(yours: object) -> str:
    """A function, a class or a layer, where what it returns is wanted."""
    if isinstance(yours, nn.Module):
        return "this is a layer, and not what it makes of x: call it"
    if isinstance(yours, type):
        return "this is a class, and no object of it: call it"
    return "this is a function, and not what it returns: call it" if inspect.isroutine(yours) else ""


def cause_of_pieces(yours: Tensor) -> str | None:
    """Why a tensor cannot be read that has no values of its own."""
    name = type(yours).__name__  # distributed tensors are not imported for their name
    return "a DTensor: its full_tensor() puts the pieces of all ranks together" if name == "DTensor" else None


def _among(kind: type, items: list[Tensor | None], wanted: Tensor, rtol: float, atol: float) -> str | None:
    """wanted is one of the items, or all of them put together."""
    names = getattr(kind, "_fields", ()) or getattr(kind, "__match_args__", ())
    for i, item in enumerate(items):
        if _is_wanted(item, wanted, rtol, atol):
            field = f".{names[i]}" if i < len(names) else f"item {i}"
            return f"the wanted tensor is {field} of it: return only that"
    readable = [item for item in items if item is not None and item.shape == items[0].shape]  # type: ignore[union-attr]
    if len(readable) == len(items) and len({item.dtype for item in readable}) == 1:
        if _is_wanted(torch.stack(readable), wanted, rtol, atol):
            return "torch.stack of these is what is wanted"
        if readable[0].ndim and _is_wanted(torch.cat(readable), wanted, rtol, atol):
            return "torch.cat of these is what is wanted"
    if kind.__module__ == "torch.return_types":
        return f"{kind.__name__} returns {' and '.join(names)}: take the one that is wanted"
    return None


def _is_wanted(item: Tensor | None, wanted: Tensor, rtol: float, atol: float) -> bool:
    if item is None or item.shape != wanted.shape or not item.numel():
        return False
    case = make_evidence(item, wanted, (), {}, rtol, atol)
    return case.agree(case.wanted)
