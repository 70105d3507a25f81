"""Views and copies, and what is held: bytes, and graphs."""

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from grader.checks.cost.dispatch import DispatchMode
from grader.checks.cost.everywhere import in_one_thread
from grader.checks.failure import CheckFailure
from grader.diagnose.describe import describe


def shares_storage(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors look at the same memory.

    Example:
        def test_parts_are_apart(answer):
            first, second = answer.parts(torch.arange(4))
            expect_that(not shares_storage(first, second), "the parts of parts(x) share memory")
    """
    return (
        a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() and a.untyped_storage().nbytes() > 0
    )


def expect_view(yours: object, base: Tensor, call: str) -> None:
    """Fail unless `yours` is a view into the memory of `base`: nothing was copied.

    Example:
        def test_columns_are_a_view(answer):
            x = torch.ones(2, 3)
            expect_view(answer.columns(x), x, "columns(x)")
    """
    if not isinstance(yours, Tensor) or not shares_storage(yours, base):
        raise CheckFailure(
            f"{call} copies",
            yours=f"{describe(yours)} in memory of its own",
            wanted="a view of the input's memory",
        )


def expect_copy(yours: object, base: Tensor, call: str) -> None:
    """Fail if writing to `yours` would write to `base`.

    Example:
        def test_snapshot_is_apart(answer):
            x = torch.ones(2, 3)
            expect_copy(answer.snapshot(x), x, "snapshot(x)")
    """
    if not isinstance(yours, Tensor) or shares_storage(yours, base):
        raise CheckFailure(
            f"{call} returns a view of its input",
            yours="shares the input's memory: writing to one changes the other",
            wanted="memory of its own",
        )


class _Storages(DispatchMode):
    """Follows the bytes of every storage that operations create while the mode is on."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[int, int] = {}
        self.live = 0
        self.peak = 0

    def _follow(self, storage: torch.UntypedStorage, size: int) -> None:
        if id(storage) not in self.known:  # torch keeps one object for each storage
            self.known[id(storage)] = size
            self.live += size
            weakref.finalize(storage, self._forget, id(storage))  # another may get its id

    def _forget(self, key: int) -> None:
        self.live -= self.known.pop(key, 0)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        lifts = func is torch.ops.aten.lift_fresh.default
        for given in tensors_in((*args, *(kwargs or {}).values())):
            if _has_storage(given) and not (lifts and _is_torchs(given)):
                self._follow(given.untyped_storage(), 0)
        result = func(*args, **(kwargs or {}))
        for made in tensors_in((result,)):
            if made.device.type == "meta" or not _has_storage(made):  # meta has sizes, but no memory
                continue
            storage = made.untyped_storage()
            self._follow(storage, storage.nbytes())
        self.peak = max(self.peak, self.live)
        return result


def _is_torchs(lifted: Tensor) -> bool:
    """Whether `torch.tensor` has just made this memory; it may be an array's, which `from_numpy` looks at."""
    return lifted.untyped_storage().resizable()


def _has_storage(tensor: Tensor) -> bool:
    """Not so a sparse tensor: its parts have."""
    return tensor.layout is torch.strided


def tensors_in(values: Iterable[Any]) -> Iterator[Tensor]:
    """What an operation takes or returns: tensors, and lists of them. (PyTree is many times slower.)"""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_in(value)


def peak_bytes(fn: Callable[[], object]) -> int:
    """The most bytes of new tensors alive at once while `fn` runs. Inputs do not count, nor "meta".

    Example:
        def test_memory(answer):
            x = torch.ones(1000)  # 4000 bytes
            used = peak_bytes(lambda: answer.total(x))
            expect_that(used < x.nbytes, "total(x) makes a tensor as large as x", yours=f"{used} bytes")
    """
    mode = _Storages()
    with in_one_thread(), mode:
        result = fn()
    del result
    return mode.peak


def saved_bytes(fn: Callable[[], object]) -> int:
    """Bytes that autograd keeps for backward while `fn` runs, each storage counted once.

    Example:
        def test_saved_for_backward(answer):
            x = torch.ones(1000, requires_grad=True)
            saved = saved_bytes(lambda: answer.penalty(x))
            expect_that(saved <= x.nbytes, "penalty(x) saves more than x", yours=f"{saved} bytes")
    """
    storages: dict[int, int] = {}

    def pack(x: Tensor) -> Tensor:
        if _has_storage(x):
            storage = x.untyped_storage()
            storages[id(storage)] = storage.nbytes()
        return x

    with in_one_thread(), torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        result = fn()
    del result
    return sum(storages.values())


def held_bytes(fn: Callable[[], object]) -> int:
    """Bytes of new tensors that outlive `fn`: its result, and all that is kept for backward, in whatever way.

    `saved_bytes` sees what autograd saves; this sees what closures and attributes hold as well. Inputs
    do not count.

    Example:
        def test_nothing_else_is_held(answer):
            x = torch.ones(1000, requires_grad=True)
            held = held_bytes(lambda: answer.penalty(x))
            expect_that(held < 100, "penalty(x) holds more than x and its result", yours=f"{held} bytes")
    """
    mode = _Storages()
    with in_one_thread(), mode:
        result = fn()
    held = mode.live
    del result
    return held


class _Mark:
    """What a graph holds on to, and nobody else."""


class _Marked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mark: _Mark) -> Tensor:
        ctx.mark = mark
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


def marked(x: Tensor) -> tuple[Tensor, "weakref.ref[object]"]:
    """A copy of `x` with its gradient, and a reference that is alive as long as the graph of this copy.

    A backward frees what the graph has saved, but not the graph: a sum of losses still holds it.

    Example:
        def test_graphs_are_let_go(answer):
            loss, graph = marked(torch.ones(2, requires_grad=True).sum())
            mean = answer.running_mean([loss])
            del loss
            expect_that(graph() is None, "the running mean holds the graphs of the losses", yours=mean)
    """
    mark = _Mark()
    return _Marked.apply(x, mark), weakref.ref(mark)
