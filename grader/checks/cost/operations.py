"""What an answer computes with: how many operations, how many Python steps, which functions."""

import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from torch.overrides import TorchFunctionMode

from grader.checks.cost.dispatch import DispatchMode
from grader.checks.failure import BrokenRule

_LIBRARIES = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), "<")
_CHECKS = str(Path(__file__).parent.parent)
_NOT_COUNTED = (*_LIBRARIES, _CHECKS)


class _Operations(DispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count[_name(func)] += 1
        return func(*args, **(kwargs or {}))


def _name(func: Any) -> str:
    """`softmax` for `aten::_softmax.default`, `aten::softmax.int` and `aten::softmax_`."""
    packet = getattr(func, "overloadpacket", func)
    return str(getattr(packet, "__name__", packet)).strip("_")


def count_operations(fn: Callable[[], object]) -> Counter[str]:
    """The ATen operations that `fn` runs on this thread, by name without underscores.

    Example:
        def test_one_product(answer):
            products = count_operations(lambda: answer.gram(torch.ones(4, 3)))["mm"]
            expect_equal(products, 1, "the number of matrix products in gram(x)")
    """
    with _Operations() as mode:
        fn()
    count: Counter[str] = mode.count
    return count


def count_steps(fn: Callable[[], object]) -> int:
    """Bytecode steps that `fn` takes in code that belongs to no library.

    This sees the loops that `count_operations` cannot: over `.tolist()`, NumPy scalars, dictionaries.

    Example:
        def test_no_python_loop(answer):
            few, many = [count_steps(lambda n=n: answer.indices(n)) for n in (5, 50)]
            expect_that(few == many, "indices(n) takes a step for each index", yours=f"{few}, {many}")
    """
    steps = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        if frame.f_code.co_filename.startswith(_NOT_COUNTED):
            return None
        if event == "call":
            frame.f_trace = trace  # Python 3.13 turns opcodes on only in a frame that is traced already
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        if event == "opcode":
            steps += 1
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 reports them only where one frame has asked before
    sys.settrace(trace)
    try:
        fn()
    finally:
        sys.settrace(before)
    return steps


def expect_flat_cost(
    make: Callable[[int], Callable[[], object]],
    call: str,
    *,
    sizes: tuple[int, int] = (6, 24),
    over: str = "n",
) -> None:
    """Fail if the number of operations or of Python steps grows with a size: there is a loop.

    `make(n)` prepares inputs of size n and returns the call to count. Chunks of a fixed count and a
    logarithmic number of steps pass; one step per element does not.

    Example:
        def test_no_loop(answer):
            def make(n):
                x = torch.ones(n, 3)
                return lambda: answer.gram(x)

            expect_flat_cost(make, "gram(x)", over="rows")
    """
    small, large = sizes
    calls = {n: make(n) for n in sizes}
    calls[small]()  # what is done once, such as a lazy import, is no growth
    few, many = _cost(calls[small]), _cost(calls[large])
    allowed = (large - small) // 2
    if any(more - less > allowed for less, more in zip(few, many, strict=True)):
        many = _cost(calls[large])  # nor is what is done once for a size, such as a mask that is kept
    for what, less, more in zip(("operations", "Python steps"), few, many, strict=True):
        if more - less > allowed:
            raise BrokenRule(
                f"the cost of {call} grows with {over}",
                yours=f"{less} {what} for {over}={small}, {more} for {over}={large}",
                wanted=f"the same number for every {over}",
                likely=f"a Python loop over {over}: one operation can do them all",
            )


def _cost(call: Callable[[], object]) -> tuple[int, int]:
    """Operations and Python steps, both in one run: an answer's run is what this costs."""
    with _Operations() as mode:
        steps = count_steps(call)
    return sum(mode.count.values()), steps


class _Forbidding(TorchFunctionMode):
    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self.names = names
        self.used: set[str] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (name := _name(func)) in self.names:
            self.used.add(name)
        return func(*args, **(kwargs or {}))


@contextmanager
def forbid(call: str, *names: str) -> Iterator[None]:
    """Fail if the block uses a function that the statement rules out, under whatever path.

    `names` are bare: ``"softmax"`` stands for `torch.softmax`, `Tensor.softmax`,
    `torch.nn.functional.softmax` and `torch.ops.aten._softmax`. The calls are seen where they
    happen, so an alias does not hide them and a mention in a comment does no harm.

    Example:
        def test_by_hand(answer):
            with forbid("softmax(x)", "softmax", "log_softmax"):
                answer.softmax(torch.ones(2, 3))
    """
    functions = _Forbidding(frozenset(names))
    with functions, _Operations() as operations:
        yield
    used = sorted(functions.used | (set(names) & set(operations.count)))
    if used:
        what = f"{call} uses what the statement rules out"
        raise BrokenRule(what, yours=", ".join(used), wanted="your own computation")
