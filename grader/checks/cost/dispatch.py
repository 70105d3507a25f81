"""Dispatch modes that leave torch's compiler alone until somebody compiles."""

import inspect
import sys
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from grader.checks._compat import COMPILER, HIDDEN

__all__ = ["DispatchMode"]


class DispatchMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's modes are not typed
    """A `TorchDispatchMode` that does not import the compiler when it sees its first operation.

    torch hides each mode's `__torch_dispatch__` from the compiler, and imports it to do so, for half a second
    and more. Before anybody has imported it, there is nothing to hide from.

    Example:
        class Copies(DispatchMode):
            count = 0

            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                self.count += func is torch.ops.aten.clone.default
                return func(*args, **(kwargs or {}))


        def test_one_copy(answer):
            with Copies() as copies:
                answer.snapshot(torch.ones(2, 3))
            expect_equal(copies.count, 1, "the copies in snapshot(x)")
    """

    def __enter__(self) -> Any:
        dispatch = inspect.unwrap(type(self).__torch_dispatch__)
        if COMPILER not in sys.modules:
            setattr(dispatch, HIDDEN, dispatch)
        elif getattr(dispatch, HIDDEN, None) is dispatch:
            delattr(dispatch, HIDDEN)
        return super().__enter__()  # type: ignore[no-untyped-call]
