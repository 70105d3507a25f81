"""Any value in a few words, whoever made it."""

import itertools
import re
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grader.diagnose._compat import without_subclasses

LONGEST = 60
SHOWN = 3
DEEPEST = 2
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def describe(value: object) -> str:
    """`float32[2, 3]` for a tensor, short Python-like text for anything else.

    Never raises: an object whose `__repr__` or `__len__` misbehaves is told by its type's name.
    """
    return _describe(value, 0)


def without_addresses(text: str) -> str:
    """`<function f>` for `<function f at 0x7f01…>`: an address is another one in each run."""
    return _ADDRESS.sub("", text)


def is_tensor(value: object) -> bool:
    """A real tensor or an instance of a subclass, whatever the object says about its `__class__`."""
    return issubclass(type(value), Tensor)


def readable(value: Tensor) -> Tensor | None:
    """The values as an ordinary dense tensor on the CPU, without history; None where they cannot be read."""
    try:
        with without_subclasses():
            read = Tensor.detach(value)
            if read.device.type == "meta":
                return None
            read = (
                (read if read.layout is torch.strided else read.to_dense()).cpu().resolve_conj().resolve_neg()
            )
    except Exception:  # a subclass may refuse anything
        return None
    return read if type(read) is Tensor else None


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def tensor_text(value: Tensor, *, always_device: bool = False) -> str:
    """dtype and shape, and the device where it is not the CPU (or in any case)."""
    with without_subclasses():
        device = f" on {value.device}" if always_device or value.device.type != "cpu" else ""
        layout = "" if value.layout is torch.strided else f" {str(value.layout).removeprefix('torch.')}"
        return f"{dtype_name(value.dtype)}{[int(n) for n in value.shape]}{layout}{device}"


def _describe(value: Any, depth: int) -> str:
    kind = type(value)
    # Other people's methods run below: whatever they raise, sys.exit included, says nothing about ours.
    try:
        if value is None:
            return "None"
        if is_tensor(value):
            return tensor_text(value)
        if issubclass(kind, np.ndarray):
            return f"numpy {value.dtype}{list(value.shape)}"
        if issubclass(kind, (list, tuple, set, frozenset, dict)):
            return _container(value, depth)
        if kind is float and depth:  # one of several, which is shown in short
            return f"float {value:.4g}"
        if kind.__module__ in ("torch", "builtins") and callable(value):
            return _cut(f"{_name(kind)} {value.__name__}")
        text = without_addresses("".join([repr(value)]))
        return _cut(text if text.startswith((_name(kind), "<")) else f"{_name(kind)} {text}")
    except KeyboardInterrupt:
        raise
    except BaseException:
        return _name(kind)


def _container(value: Any, depth: int) -> str:
    name, size = _name(type(value)), len(value)
    if size and _is_plain(value) and len(text := repr(value)) <= LONGEST and text.isprintable():
        return text
    if depth == DEEPEST or not size:
        return f"{name} of {size}" if size else f"empty {name}"
    if isinstance(value, dict):
        items = [
            f"{_cut(repr(k), 20)}: {_describe(v, depth + 1)}"
            for k, v in itertools.islice(value.items(), SHOWN)
        ]
    else:
        items = [_describe(item, depth + 1) for item in itertools.islice(value, SHOWN)]
    more = ", …" if size > SHOWN else ""
    return _cut(f"{name} of {size} ({', '.join(items)}{more})", LONGEST + 20)


def _is_plain(value: Any) -> bool:
    """Whether this is a number, a name or None, or few of them in Python's own containers."""
    kind = type(value)
    if kind is dict:
        return len(value) <= LONGEST and all(_is_plain(v) for pair in value.items() for v in pair)
    if kind in (list, tuple):
        return len(value) <= LONGEST and all(map(_is_plain, value))
    return kind in (int, float, bool, str, type(None))


def _name(kind: type) -> str:
    try:
        return _cut("".join([type.__dict__["__name__"].__get__(kind)]), 30)
    except Exception:
        return "object"


def _cut(text: str, longest: int = LONGEST) -> str:
    shown = "".join(c if c.isprintable() else " " for c in text[: 4 * longest])
    if "\n" in text[: 4 * longest]:  # as of a module of modules
        shown = " ".join(shown.split())
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
