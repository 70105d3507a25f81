"""What rounding explains is granted, number by number, and no more."""

import contextlib

import pytest
import torch

from grader.checks import expect_gradients
from grader.checks.failure import CheckFailure
from grader.checks.rounding import expect_rounded, rounding_error

KINDS = [torch.float16, torch.bfloat16, torch.float32]


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-6, 1e-8, 1e3])
def test_one_rounding_is_granted(dtype: torch.dtype, size: float) -> None:
    gen = torch.Generator().manual_seed(0)
    exact = torch.randn(1000, generator=gen, dtype=torch.float64) * size
    expect_rounded(exact.to(dtype), exact, dtype, "f(x)")


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_two_steps_away_are_wrong(dtype: torch.dtype) -> None:
    gen = torch.Generator().manual_seed(0)
    exact = 1 + torch.rand(100, generator=gen, dtype=torch.float64)
    off = exact.to(dtype) + 2 * torch.finfo(dtype).eps
    with pytest.raises(CheckFailure, match="all 100"):
        expect_rounded(off, exact, dtype, "f(x)")
    expect_rounded(off, exact, dtype, "f(x)", roundings=5)
    expect_rounded(off, exact, dtype, "f(x)", slack=torch.full((100,), 2 * torch.finfo(dtype).eps))


def test_bound_stops_at_the_subnormals() -> None:
    exact = torch.tensor([1e-9, 6e-8, 1.0], dtype=torch.float64)
    wanted = [2.0**-25, 2.0**-25, 2.0**-11]
    assert rounding_error(exact, torch.float16).tolist() == wanted
    with pytest.raises(CheckFailure, match="1 of 3"):
        expect_rounded(torch.tensor([0.0, 0.0, 1.0]).half(), exact, torch.float16, "f(x)")


def test_what_overflows_has_to_be_inf() -> None:
    exact = torch.tensor([7e4, -7e4, float("nan")], dtype=torch.float64)
    expect_rounded(torch.tensor([7e4, -7e4, float("nan")]).half(), exact, torch.float16, "f(x)")
    with pytest.raises(CheckFailure, match="2 of 3"):
        expect_rounded(torch.tensor([65504.0, 1.0, float("nan")]).half(), exact, torch.float16, "f(x)")


@pytest.mark.parametrize("yours", [None, torch.ones(2), torch.ones(3).half()], ids=["None", "dtype", "shape"])
def test_kind_comes_first(yours: object) -> None:
    with pytest.raises(CheckFailure, match=r"wrong (type|dtype|shape)"):
        expect_rounded(yours, torch.ones(2).double(), torch.float16, "f(x)")


@pytest.mark.parametrize("part", [1.0, 0.9])
def test_a_gradient_for_one_number_may_cancel(part: float) -> None:
    """Thousands of numbers are added up to nearly nothing: what rounding does to them stays."""
    gen = torch.Generator().manual_seed(0)
    cotangent = torch.randn(100, 100, generator=gen, dtype=torch.float64)
    x = torch.randn(100, 100, generator=gen, dtype=torch.float64)
    x = (x - (x * cotangent).sum() / cotangent.square().sum() * cotangent).float() + 1e-9
    answer = lambda x, by: x * by * torch.linspace(1, part, 100)  # noqa: E731
    with contextlib.ExitStack() as stack:
        if part != 1.0:
            stack.enter_context(pytest.raises(CheckFailure))
        gen.manual_seed(0)  # the check draws the same cotangent
        expect_gradients(answer, [x, torch.tensor(2.0)], torch.mul, gen=gen, call="f(x, by)", names="x by")
