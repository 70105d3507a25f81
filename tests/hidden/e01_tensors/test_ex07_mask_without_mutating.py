"""What grades mask_without_mutating: the caller's tensor, memory, gradients, exact bounds, inf and NaN."""

import math

import pytest
import torch

from grader.checks import CheckFailure, expect_copy, expect_equal, expect_gradients, expect_that, unchanged
from grader.checks.devices import count_traffic, on_host


def clipped(x, low, high):
    """Reading by reading, with Python's own numbers."""
    numbers = [min(max(number, low), high) for number in x.double().flatten().tolist()]
    return torch.tensor(numbers, dtype=torch.float64).to(x.dtype).view(x.shape)


def readings(shape, gen, dtype=torch.float32):
    return (3 * torch.randn(shape, generator=gen)).to(dtype)


def test_both_sides_are_clipped(answer, gen):
    """Readings below low become low, those above high become high, and the rest stay."""
    x = readings((4, 7), gen)
    for low, high in [(-1.0, 2.5), (0.5, 4.0), (-6.0, -1.5), (0.25, 0.25), (0.0, 0.0)]:
        wanted = clipped(x, low, high)
        expect_equal(answer.clip_outliers(x.clone(), low, high), wanted, f"clip_outliers(x, {low}, {high})")


def test_any_shape(answer, gen):
    """Readings of any shape are clipped: one number, none at all, many dimensions."""
    for shape in [(), (1,), (0, 3), (2, 1, 3, 4)]:
        x = readings(shape, gen)
        wanted = clipped(x, -1.0, 2.0)
        expect_equal(
            answer.clip_outliers(x, -1.0, 2.0), wanted, f"clip_outliers(x, -1.0, 2.0), x of shape {shape}"
        )


def test_strided_input(answer, gen):
    """Readings that are not contiguous, or expanded, are clipped like any others."""
    tail = readings((4, 6), gen)[1:, 2:]
    for x in (readings((4, 6), gen).t()[::2], readings((1, 5), gen).expand(3, 5), tail):
        wanted = clipped(x, -1.0, 2.0)
        with unchanged("clip_outliers(x, -1.0, 2.0) of a strided x", x=x):
            yours = answer.clip_outliers(x, -1.0, 2.0)
        expect_equal(yours, wanted, "clip_outliers(x, -1.0, 2.0) of a strided x")


def test_input_is_left_alone(answer, gen):
    """The caller's readings, and whatever shares their memory, are the same afterwards."""
    table = readings((4, 6), gen)
    rows = table[1:3]
    with unchanged("clip_outliers(x, -1.0, 1.0) of rows of a table", table=table, x=rows):
        answer.clip_outliers(rows, -1.0, 1.0)


def test_memory_of_its_own(answer, gen):
    """The result never shares memory with x, even if there was nothing to clip."""
    x = readings((3, 5), gen)
    expect_copy(
        answer.clip_outliers(x, -100.0, 100.0), x, "clip_outliers(x, -100.0, 100.0), which clips nothing,"
    )
    expect_copy(answer.clip_outliers(x, -0.5, 0.5), x, "clip_outliers(x, -0.5, 0.5)")
    for part in (x[0, 0], x.t(), x[:1].expand(3, 5), x[1:].double().requires_grad_()):
        call = f"clip_outliers(x, -100.0, 100.0) of shape {tuple(part.shape)}, which clips nothing,"
        expect_copy(answer.clip_outliers(part, -100.0, 100.0), part, call)
    empty = x[:0]
    new = answer.clip_outliers(empty, -1.0, 1.0) is not empty
    expect_that(new, "clip_outliers(x, -1.0, 1.0) of an empty x returns x itself")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_bounds_in_the_dtype_of_x(answer, dtype):
    """The dtype stays, and a clipped number is the bound as exactly as this dtype holds it."""
    x = torch.tensor([-5.0, -0.125, 0.0, 0.0625, 3.0], dtype=dtype)
    wanted = torch.tensor([-0.3, -0.125, 0.0, 0.0625, 0.1], dtype=dtype)
    expect_equal(answer.clip_outliers(x, -0.3, 0.1), wanted, "clip_outliers(x, -0.3, 0.1)")
    expect_equal(answer.clip_outliers(x[0], -0.3, 0.1), wanted[0], "clip_outliers(x, -0.3, 0.1) of a 0-d x")


def test_readings_close_to_the_bounds(answer):
    """A reading that misses a bound by the last digit of its dtype is clipped, and one short of it stays."""
    for dtype in (torch.float64, torch.float32, torch.float16):
        eps = torch.finfo(dtype).eps
        x = torch.tensor([-2 - 2 * eps, 1 - eps, -2 + 2 * eps, 1 + eps], dtype=dtype)
        wanted = torch.stack([torch.tensor(-2.0, dtype=dtype), x[1], x[2], torch.tensor(1.0, dtype=dtype)])
        expect_equal(answer.clip_outliers(x, -2.0, 1.0), wanted, f"clip_outliers(x, -2.0, 1.0), x of {dtype}")


def test_inf_and_nan(answer):
    """Infinite readings are clipped to the bounds; NaN stays NaN, and -0.0 keeps its sign."""
    x = torch.tensor([math.inf, -math.inf, math.nan, 0.5, 9.0, -0.0, 0.0])
    wanted = torch.tensor([2.0, -1.0, math.nan, 0.5, 2.0, -0.0, 0.0])
    for dtype in (torch.float64, torch.float16, torch.float32):
        yours = answer.clip_outliers(x.to(dtype), -1.0, 2.0)
        expect_equal(yours, wanted.to(dtype), f"clip_outliers(x, -1.0, 2.0) with inf and NaN in {dtype}")
    call = "torch.signbit(clip_outliers(tensor([-0.0, 0.0]), -1.0, 2.0))"
    expect_equal(torch.signbit(yours[5:]), torch.tensor([True, False]), call)


def test_gradient(answer, gen):
    """The gradient is 1 for readings that are kept, and 0 for those that are clipped, also for inf."""
    x = torch.cat([readings((20,), gen), torch.tensor([math.inf, -math.inf])])
    fn, reference = (lambda x: answer.clip_outliers(x, -1.0, 2.0)), (lambda x: x.clamp(-1.0, 2.0))
    expect_gradients(fn, [x], reference, gen=gen, call="clip_outliers(x, -1.0, 2.0)", names="x")


def expect_kept(answer, x, low, high, gen, call):
    """The gradient is 1, or what torch's own clamp has: new versions give 0 where x equals a bound."""
    fn = lambda x: answer.clip_outliers(x, low, high)  # noqa: E731
    try:
        expect_gradients(fn, [x], lambda x: x * 1.0, gen=gen, call=call, names="x")
    except CheckFailure:
        leaf = x.clone().requires_grad_()
        (own,) = torch.autograd.grad(leaf.clamp(low, high).sum(), leaf)
        if bool((own == 1).all()):
            raise
        expect_gradients(fn, [x], lambda x: x * own.double(), gen=gen, call=call, names="x")


def test_gradient_at_the_bounds(answer, gen):
    """A reading that equals a bound is within the bounds: its gradient is 1."""
    for x in (torch.tensor([-1.0, 2.0, 0.0, -1.0, 2.0]), torch.tensor(2.0), torch.tensor([-1.0]).half()):
        call = f"clip_outliers(x, -1.0, 2.0) at the bounds, x of shape {tuple(x.shape)}"
        expect_kept(answer, x, -1.0, 2.0, gen, call)
    for dtype in (torch.float32, torch.float16):
        x, call = torch.tensor([-0.3, 0.1, -0.7], dtype=dtype), f"clip_outliers(x, -0.7, 0.1) in {dtype}"
        expect_kept(answer, x, -0.7, 0.1, gen, call)
    expect_kept(answer, torch.tensor([0.5, 0.5]), 0.5, 0.5, gen, "clip_outliers(x, 0.5, 0.5)")


def test_in_the_middle_of_a_network(answer, gen):
    """Readings that come out of another operation may be clipped, and used again, before backward."""

    def twice(clip):
        def forward(weight):
            x = weight.exp()
            return clip(x, 0.5, 1.5) + x * x

        return forward

    weight = torch.randn(4, 5, generator=gen)
    reference = twice(torch.clamp)
    expect_gradients(
        twice(answer.clip_outliers), [weight], reference, gen=gen, call="clip_outliers(x, 0.5, 1.5)"
    )


def test_stays_on_the_device(answer, device, gen):
    """Readings on another device are clipped there: no number is copied to the host."""
    x = readings((3, 5), gen)
    wanted = clipped(x, -1.0, 2.0)
    there = x.to(device)
    with count_traffic() as traffic:
        yours = answer.clip_outliers(there, -1.0, 2.0)
    expect_equal(yours.device, there.device, "the device of clip_outliers(x, -1.0, 2.0)")
    empty = answer.clip_outliers(there[:0], -1.0, 2.0)
    expect_equal(empty.device, there.device, "the device of clip_outliers(x, -1.0, 2.0), x of shape (0, 5)")
    expect_equal(on_host(yours), wanted, "clip_outliers(x, -1.0, 2.0)")
    expect_equal(traffic.to_host, 0, "the number of copies to the host by clip_outliers(x, -1.0, 2.0)")


def oracle(answer, gen):
    x = (3 * torch.randn(4, 6, generator=gen)).requires_grad_()
    y = answer.clip_outliers(x, -1.0, 2.0)
    y.backward(torch.randn(y.shape, generator=gen))
    raw = 3 * torch.randn(5, generator=gen, dtype=torch.float64)
    return [y.detach(), x.grad, answer.clip_outliers(raw, -0.1, 0.7), raw]
