"""Known-good references to everything that suites and checks call, and whether they still hold.

An answer shares its process with the checks, so it can replace `torch.allclose` or a check itself.
The references are taken before any answer is imported, and compared after the import and after each
check. New names are fine (torch adds some when modules load); a known name that stands for another
object is not.
"""

import builtins
import gc
import math
import operator
import random
import sys
from types import FunctionType, ModuleType
from typing import Any

import torch

_CLASSES: tuple[type, ...] = (torch.Tensor, torch.nn.Module, torch.autograd.Function, torch.Generator)
_MODULES = (
    "torch",
    "torch.autograd",
    "torch.autograd.functional",
    "torch.autograd.grad_mode",
    "torch.cuda",
    "torch.distributed",
    "torch.distributed.distributed_c10d",
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
    "os",
    "weakref",
)
_CHANGING = {"torch": {"_GLOBAL_DEVICE_CONTEXT"}}


class Guard:
    """A snapshot of the namespaces that judging relies on."""

    def __init__(self, suites: list[ModuleType]) -> None:
        known = [sys.modules[name] for name in _MODULES if name in sys.modules]
        ours = [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "grader"]
        modules = [*known, *ours, *suites, builtins, math, operator, random]
        spaces: dict[str, Any] = {module.__name__: vars(module) for module in modules if module is not None}
        spaces |= {f"{cls.__module__}.{cls.__qualname__}": vars(cls) for cls in _CLASSES}
        self._known: list[tuple[str, Any, list[tuple[str, Any, Any]]]] = [
            (
                name,
                space,
                [(key, value, _code(value)) for key, value in space.items() if _callable(name, key, value)],
            )
            for name, space in spaces.items()
        ]

    def broken(self) -> str | None:
        """The first known name that now stands for something else, or None."""
        for name, space, members in self._known:
            get = space.get
            for key, value, code in members:
                now = get(key)
                if now is not value or (code is not None and now.__code__ is not code):
                    return f"{name}.{key}"
        return None


def _callable(space: str, key: str, value: Any) -> bool:
    return key not in _CHANGING.get(space, ()) and (callable(value) or isinstance(value, property))


def _code(value: Any) -> Any:
    # A function can be kept and its code replaced.
    return value.__code__ if isinstance(value, FunctionType) else None


def freeze() -> None:
    """Keep the collector away from what exists now: children then share the parent's memory."""
    gc.collect()
    gc.freeze()
