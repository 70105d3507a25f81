"""Dispatch modes that leave torch's compiler alone until somebody compiles."""

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class DispatchMode(TorchDispatchMode):
    """A `TorchDispatchMode` that does not import the compiler when it sees its first operation.

    torch hides each mode's `__torch_dispatch__` from the compiler, and imports it to do so, for half a
    second. Here it is hidden as well, but only in a process that has imported the compiler.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or torch would hide it in its own way, too

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)  # type: ignore[no-untyped-call]
        if "__torch_dispatch__" in vars(cls):
            cls.__torch_dispatch__ = _hidden(cls.__torch_dispatch__)  # type: ignore[method-assign]


def _hidden(dispatch: Callable[..., Any]) -> Callable[..., Any]:
    """`dispatch`, of which the compiler sees nothing."""
    hidden = None

    @functools.wraps(dispatch)
    def either(*args: Any, **kwargs: Any) -> Any:
        nonlocal hidden
        if "torch._dynamo" not in sys.modules:
            return dispatch(*args, **kwargs)
        if hidden is None:
            hidden = torch.compiler.disable(dispatch)  # type: ignore[no-untyped-call]
        return hidden(*args, **kwargs)

    return either
