"""Dispatch modes that leave torch's compiler alone until somebody compiles."""

import inspect
import sys
from contextlib import AbstractContextManager
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from grader.checks import _compat
from grader.checks._compat import COMPILER, HIDDEN

__all__ = ["DispatchMode", "is_followed", "unfollowed"]


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


def is_followed() -> bool:
    """Whether a dispatch mode or autograd's profiler sees the operations that run now.

    Example:
        def test_nobody_follows(answer):
            expect_equal(answer.twice(is_followed), [False, False], "whether fn is followed in twice(fn)")
    """
    return _compat.is_followed()


def unfollowed() -> AbstractContextManager[None]:
    """Run the block where no dispatch mode sees it, and so no check of this package that counts by one.

    Example:
        def test_peak_of_the_call_alone(answer):
            def called():
                with unfollowed():
                    x = torch.ones(1000, 10)
                return answer.snapshot(x)

            expect_equal(peak_bytes(called), 40_000, "the peak of snapshot(x), in bytes")
    """
    return _compat.modes_off()  # type: ignore[no-any-return]
