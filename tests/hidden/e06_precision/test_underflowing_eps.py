"""What grades to_shares: rows of zeros, small weights, gradients; rounding, NaN, layouts, the device."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.contract import (
    Contract,
    device,
    empties,
    flat_cost,
    gradients,
    half_precision,
    strides,
    untouched,
    values,
)

HALF, BRAIN, SINGLE, DOUBLE = KINDS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def formula(weights):
    """The shares; rows of zeros are cut off."""
    total = weights.sum(-1, keepdim=True)
    empty = total == 0
    return (weights / total.masked_fill(empty, 1.0)).masked_fill(empty, 0.0)


def added(eps):
    return lambda weights: weights / (weights.sum(-1, keepdim=True) + eps)


SUSPECTS = {
    "a row of zeros is 0 / 0: there is no guard, or it rounds to 0": added(0.0),
    "small rows feel the guard: an eps, a clamp or a threshold": added(1e-8),
    "small rows feel the guard: an eps of 1e-7": added(torch.finfo(SINGLE).eps),
    "small rows feel the guard: finfo(float16).tiny": added(torch.finfo(HALF).tiny),
    **{
        f"small rows feel the guard: an eps of {eps:g}": added(eps)
        for eps in (1e-3, 1e-5, 1e-6, 1e-10, 1e-12, 1e-16, 1e-20, 1e-30)
    },
    "a row with one weight of 0 is no row of zeros: its sum tells": lambda weights: formula(
        weights * (weights != 0).all(-1, keepdim=True)
    ),
    "the sum is over all rows": lambda weights: weights / weights.sum(),
    "the sum is over dim 1: the weights of a position are along the last": lambda weights: (
        weights / weights.sum(1, keepdim=True)
    ),
    "this is a softmax": lambda weights: weights.softmax(-1),
}


def drawn(gen, *shape, dtype=SINGLE, low=0.5, high=4.0):
    return (low + (high - low) * torch.rand(*shape, generator=gen, dtype=DOUBLE)).to(dtype)


def padded(gen, *shape, dtype=SINGLE):
    weights = drawn(gen, *shape, dtype=dtype)
    weights[1] = 0
    return weights


def ordinary(gen):
    return {
        "four rows": drawn(gen, 4, 3),
        "one row": drawn(gen, 7),
        "two sequences": drawn(gen, 2, 3, 4),
    }


def with_zeros(gen):
    weights = drawn(gen, 4, 3)
    weights[:, 1] = 0
    return {"weights of zero among others": weights}


def with_padding(gen):
    return {
        **{f"a row of zeros in {dtype}": padded(gen, 4, 3, dtype=dtype) for dtype in KINDS[:3]},
        "nothing but zeros, in float16": torch.zeros(2, 3, dtype=HALF),
        "a sequence of padding": padded(gen, 2, 3, 4),
        **with_zeros(gen),
    }


def small(gen):
    near = lambda size, dtype: (size * drawn(gen, 4, 3, dtype=DOUBLE)).to(dtype)  # noqa: E731
    return {
        f"weights near {size:g} in {dtype}": near(size, dtype)
        for size, dtype in ((1e-8, SINGLE), (1e-20, SINGLE), (1e-8, BRAIN), (1e-20, BRAIN), (1e-3, HALF))
    }


def in_float64(gen):
    return {"float64": padded(gen, 4, 3, dtype=DOUBLE)}


def subnormal(gen):
    return {"subnormals of float16": (torch.randint(1, 9, (5, 3), generator=gen) * 2.0**-24).half()}


def large(gen):
    return {"weights near 50000 in float16": drawn(gen, 3, 40, dtype=HALF, low=3e4, high=6e4)}


contract = Contract(
    "to_shares(weights)",
    reference=formula,
    suspects=SUSPECTS,
    inputs=ordinary,
    job=[
        values(
            inputs=with_padding,
            name="rows_of_zeros",
            title="Rows of zeros give zeros, and leave the others as they are.",
        ),
        values(
            inputs=small,
            name="no_eps_is_felt",
            title="Small weights get the same shares as others.",
        ),
        gradients("weights", scale=1.0),
    ],
    fine=[
        half_precision(inputs=lambda gen: {"rows of seven": drawn(gen, 40, 7)}),
        values(
            inputs=large,
            name="overflow",
            title="Sums above 65504 are no trouble for float16.",
        ),
        values(
            inputs=subnormal,
            name="subnormals",
            title="The subnormals of float16 get the same shares as others.",
        ),
        values(inputs=in_float64, name="float64", title="float64 is computed in float64."),
        gradients(
            "weights",
            inputs=with_zeros,
            scale=1.0,
            name="gradient_of_a_zero",
            title="A weight of zero among others has a gradient.",
        ),
        empties(inputs=lambda gen: [torch.zeros(0, 3), torch.zeros(3, 0), torch.zeros(2, 0, 3).half()]),
        strides(),
        untouched(inputs=lambda gen: [padded(gen, 4, 3), padded(gen, 4, 3, dtype=HALF)]),
        flat_cost(lambda n: torch.ones(n, 3).half(), over="rows"),
        device(inputs=lambda gen: [padded(gen, 4, 3), padded(gen, 4, 3, dtype=HALF)]),
    ],
)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_gradient_of_zeros(answer, gen, dtype):
    """Rows of zeros have a gradient of zeros."""
    leaf = padded(gen, 3, 4, dtype=dtype).requires_grad_()
    pull = torch.randn(3, 4, generator=gen).to(dtype)
    answer.to_shares(leaf).backward(pull)
    suspects = {
        "0 / 0 was there before it was replaced": lambda: torch.full((4,), math.nan, dtype=dtype),
        "the row was divided by 1: cut it off afterwards": lambda: pull[1],
    }
    what = f"the gradient for a row of zeros in {dtype}"
    expect_close(leaf.grad[1], torch.zeros(4, dtype=dtype), what, suspects=suspects)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [HALF, SINGLE], ids=str)
def test_nan(answer, gen, dtype):
    """A row with NaN keeps a NaN, and harms no other."""
    weights = drawn(gen, 3, 4, dtype=dtype)
    weights[0, 1] = math.nan
    yours = answer.to_shares(weights)
    expect_that(bool(yours[0].isnan().any()), f"a row with NaN gets shares in {dtype}", yours=yours[0])
    expect_equal(bool(yours[1:].isfinite().all()), True, f"whether the other rows are finite in {dtype}")


@pytest.mark.fine
@pytest.mark.gpu
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_on_a_gpu(answer, gen, dtype):
    """On a GPU the shares are the same, those of zeros too."""
    weights = padded(gen, 50, 7, dtype=dtype)
    yours = answer.to_shares(weights.cuda())
    expect_equal(yours.device.type, "cuda", "the device of to_shares(weights)")
    expect_close(yours.cpu(), formula(weights.double()).to(dtype), f"to_shares(weights) on a GPU in {dtype}")


def oracle(answer, gen):
    leaf, pull = drawn(gen, 4, 3).requires_grad_(), torch.randn(4, 3, generator=gen)
    rows = {f"padding in {dtype}": padded(gen, 4, 3, dtype=dtype) for dtype in KINDS[:3]}
    cases = {**ordinary(gen), **with_zeros(gen), **rows, "weights near 1e-8": drawn(gen, 4, 3) * 1e-8}
    found = {about: lambda x=x: answer.to_shares(x) for about, x in cases.items()}
    return {**found, "the gradient": lambda: torch.autograd.grad(answer.to_shares(leaf), leaf, pull)[0]}


def fine_oracle(answer, gen):
    cases = {**large(gen), **subnormal(gen), **in_float64(gen)}
    return {about: lambda x=x: answer.to_shares(x) for about, x in cases.items()}
