"""What an answer computes with: how many operations, which functions."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch.overrides import TorchFunctionMode

from grader.checks.cost.dispatch import DispatchMode
from grader.checks.cost.everywhere import everywhere, in_one_thread
from grader.checks.cost.steps import StepCount
from grader.checks.failure import BrokenRule


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
    """The ATen operations that `fn` runs, by name without underscores.

    Example:
        def test_one_product(answer):
            products = count_operations(lambda: answer.gram(torch.ones(4, 3)))["mm"]
            expect_equal(products, 1, "the number of matrix products in gram(x)")
    """
    with in_one_thread(), _Operations() as mode:
        fn()
    count: Counter[str] = mode.count
    return count


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
    few, many = _cost(calls[small], call), _cost(calls[large], call)
    allowed = (large - small) // 2
    if any(more - less > allowed for less, more in zip(few, many, strict=True)):
        many = _cost(calls[large], call)  # nor is what is done once for a size, such as a mask that is kept
    for what, less, more in zip(_COSTS, few, many, strict=True):
        if more - less > allowed:
            raise BrokenRule(
                f"the cost of {call} grows with {over}",
                yours=f"{less} {what} for {over}={small}, {more} for {over}={large}",
                wanted=f"the same number for every {over}",
                likely=f"a Python loop over {over}: one operation can do them all",
            )


_COSTS = ("operations", "Python steps", "operations")
"""Those below composites, on this thread; steps; and those that nobody but Python calls, wherever it does."""


def _cost(fn: Callable[[], object], call: str) -> tuple[int, int, int]:
    """All in one run: an answer's run is what this costs."""
    steps = StepCount()
    with everywhere() as found, _Operations() as mode:
        steps.of(fn)
    if hidden := steps.hidden or found.hidden:
        raise BrokenRule(f"what {call} costs cannot be seen: it runs {hidden}")
    return sum(mode.count.values()), steps.count, found.calls


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
    `torch.nn.functional.softmax`, `torch.ops.aten._softmax` and its kin such as `_safe_softmax`. The calls
    are seen where they happen, in whatever thread and under whatever mode, so an alias does not hide them
    and a mention in a comment does no harm.

    Example:
        def test_by_hand(answer):
            with forbid("softmax(x)", "softmax", "log_softmax"):
                answer.softmax(torch.ones(2, 3))
    """
    functions = _Forbidding(frozenset(names))
    with everywhere() as found, functions:
        yield
    used = functions.used | {name for name in names if any(_is_kin(ran, name) for ran in found.names)}
    if used:
        what = f"{call} uses what the statement rules out"
        raise BrokenRule(what, yours=", ".join(sorted(used)), wanted="your own computation")
    if found.hidden:
        raise BrokenRule(f"what {call} uses cannot be seen: it runs {found.hidden}")


@contextmanager
def forbid_files(call: str, *paths: str) -> Iterator[None]:
    """Fail if the block runs Python code of a file that is ruled out: its path has one of these parts.

    Parts have slashes: ``"torch/optim/adam.py"``, or ``"torch/nn/utils/"`` for a whole folder.

    Example:
        def test_without_split(answer):
            with forbid_files("parts(x)", "torch/_tensor.py"):
                answer.parts(torch.ones(4, 3))
    """
    ran: set[str] = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, arg: ran.add(frame.f_code.co_filename))
    try:
        yield
    finally:
        sys.setprofile(before)
    files = [file.replace("\\", "/") for file in ran]
    if used := [path for path in paths if any(path in file for file in files)]:
        what = f"{call} runs code that the statement rules out"
        raise BrokenRule(what, yours=", ".join(used), wanted="your own computation")


def _is_kin(operation: str, name: str) -> bool:
    """Whether an operation is what a name stands for, or a kernel of the family: `masked_softmax`, say."""
    return f"_{name}_" in f"_{operation}_"
