"""Which dtypes an answer computes in, and which one it finds as the default."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from grader.checks._compat import tree_leaves
from grader.checks.cost.dispatch import DispatchMode
from grader.checks.cost.everywhere import in_one_thread
from grader.checks.failure import CheckFailure

__all__ = ["compute_dtypes", "default_dtype", "expect_all_in", "expect_products_in"]

Dtypes = Mapping[str, set[torch.dtype]]
"""By operation, the dtypes of the floating tensors that went into it."""

_PRODUCTS = """
    mm addmm bmm baddbmm mv addmv dot vdot linear convolution convolution_overrideable mkldnn_linear
    mkldnn_convolution scaled_dot_product_attention_math scaled_dot_product_flash_attention
    scaled_dot_product_flash_attention_for_cpu scaled_dot_product_efficient_attention
    scaled_dot_product_cudnn_attention
""".split()  # noqa: SIM905
"""The names of all releases and devices that we support."""
_MOVES = ("to_copy", "copy", "clone", "detach", "alias", "lift_fresh")


class _Recording(DispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: dict[str, set[torch.dtype]] = defaultdict(set)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func.overloadpacket.__name__).strip("_")
        for leaf in tree_leaves((args, kwargs)):
            if isinstance(leaf, Tensor) and leaf.is_floating_point() and name not in _MOVES:
                self.seen[name].add(leaf.dtype)
        return func(*args, **(kwargs or {}))


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """PyTorch's default dtype is `dtype` in the block, and what it was before afterwards.

    Example:
        def test_dtype_is_fixed(answer):
            with default_dtype(torch.float64):
                yours = answer.positions(3)
            expect_equal(yours.dtype, torch.float32, "the dtype of positions(3)")
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def compute_dtypes() -> Iterator[Dtypes]:
    """The dtypes that the ATen operations of the block compute in, on this thread, while it runs.

    Names are without underscores. Copies and casts are not counted: they compute nothing.
    Seen below autocast, so with its casts applied. Blocks may nest.

    Example:
        def test_mean_in_float32(answer):
            with compute_dtypes() as seen:
                answer.mean_square(torch.ones(3, dtype=torch.bfloat16))
            expect_equal(seen["mean"], {torch.float32}, "the dtypes of the mean in mean_square(x)")
    """
    with in_one_thread(), _Recording() as mode:
        yield mode.seen


def product_dtypes(seen: Dtypes) -> set[torch.dtype]:
    """The dtypes of the matrix products, convolutions and attentions among the operations."""
    return set().union(*(dtypes for name, dtypes in seen.items() if name in _PRODUCTS))


def expect_products_in(seen: Dtypes, dtype: torch.dtype, where: str) -> None:
    """Fail unless there are matrix products among the operations, all of them in `dtype`.

    Example:
        def test_products_in_bfloat16(answer):
            with compute_dtypes() as seen:
                answer.project(torch.ones(2, 3), torch.ones(3, 4))
            expect_products_in(seen, torch.bfloat16, "project(x, w)")
    """
    found = product_dtypes(seen)
    if found != {dtype}:
        yours = ", ".join(sorted(map(str, found))) or "none at all"
        raise CheckFailure(f"wrong precision of the products in {where}", yours=yours, wanted=str(dtype))


def expect_all_in(seen: Dtypes, dtype: torch.dtype, where: str) -> None:
    """Fail if an operation computes with floating numbers of another dtype than `dtype`.

    Example:
        def test_all_in_float32(answer):
            with compute_dtypes() as seen:
                answer.mean_square(torch.ones(3, dtype=torch.bfloat16))
            expect_all_in(seen, torch.float32, "mean_square(x)")
    """
    wrong = [(name, other) for name, dtypes in seen.items() for other in dtypes - {dtype}]
    if wrong:
        yours = ", ".join(f"{name} in {other}" for name, other in sorted(wrong, key=str)[:4])
        raise CheckFailure(f"wrong precision in {where}", yours=yours, wanted=f"all in {dtype}")
