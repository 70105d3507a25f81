"""What grades mask_without_mutating: values, gradients; memory, exact bounds, inf and NaN."""

import math

import pytest
import torch

from grader.checks import CheckFailure, expect_equal, expect_gradients
from grader.checks.contract import (
    Contract,
    empties,
    gradients,
    own_memory,
    strides,
    values,
)
from grader.checks.devices import count_traffic, on_host


def clipped(x, low, high):
    return torch.where(x < low, low, torch.where(x > high, high, x))


def readings(gen, *shape, dtype=torch.float32):
    return (3 * torch.randn(shape, generator=gen)).to(dtype)


def tables(gen):
    return {
        "readings over time": (readings(gen, 20), -1.0, 2.5),
        "readings of four sensors": (readings(gen, 4, 7), -0.5, 4.0),
        "readings, most of which are too low": (readings(gen, 2, 3, 4), 0.5, 6.0),
    }


def no_outliers(gen):
    return {"readings without outliers": (readings(gen, 3, 5), -100.0, 100.0)}


def without_dims(gen):
    return {"a single number": (readings(gen), -0.1, 0.1), "no readings": (readings(gen, 0, 3), -1.0, 1.0)}


def exact(gen):
    x = [-5.0, -0.125, 0.0, 0.0625, 3.0]
    return [(torch.tensor(x, dtype=d), -0.3, 0.1) for d in (torch.float64, torch.float16, torch.bfloat16)]


contract = Contract(
    "clip_outliers(x, low, high)",
    reference=clipped,
    suspects={
        "the bounds are taken to be symmetric": lambda x, low, high: x.clamp(-high, high),
        "what lies outside becomes 0: it becomes the bound that it has passed": (
            lambda x, low, high: x.where((x >= low) & (x <= high), 0.0)
        ),
    },
    job=[
        values(
            inputs=tables,
            title="Readings below low become low, those above high become high, and the rest stay.",
        ),
        gradients(
            "x",
            inputs=tables,
            title="The gradient is 1 for readings that are kept, and 0 for those that are clipped.",
        ),
    ],
    fine=[
        own_memory(inputs=no_outliers, title="The result has memory of its own, even if nothing is clipped."),
        values(inputs=exact, name="exact_bounds", title="A bound is as exact as the dtype of x holds it."),
        values(
            inputs=lambda gen: [(torch.tensor([math.inf, -math.inf, math.nan, 0.5]), -1.0, 2.0)],
            name="inf_and_nan",
            title="Infinite readings are clipped; NaN stays NaN.",
        ),
        strides(inputs=tables),
        empties(inputs=without_dims, title="A single number is clipped as well, and none."),
    ],
)


def with_raw_readings(answer, x, low, high):
    return answer.clip_outliers(x, low, high), x


for_the_oracle = Contract(
    "clip_outliers(x, low, high)",
    use=with_raw_readings,  # one that clips the raw readings, too, agrees nowhere
    inputs=tables,
    gradient="x",
)


@pytest.mark.fine
def test_gradient_at_the_bounds(answer, gen):
    """A reading that equals a bound is within the bounds: its gradient is 1, or that of clamp."""
    x = torch.tensor([-1.0, 2.0, 0.0])
    call = "clip_outliers(x, -1.0, 2.0) at the bounds"

    def expect_kept(slope):
        yours = lambda x: answer.clip_outliers(x, -1.0, 2.0)  # noqa: E731
        expect_gradients(yours, [x], lambda x: x * slope, gen=gen, call=call, names="x")

    leaf = x.clone().requires_grad_()
    (own,) = torch.autograd.grad(leaf.clamp(-1.0, 2.0).sum(), leaf)
    try:
        expect_kept(1.0)
    except CheckFailure:
        if bool((own == 1).all()):
            raise
        expect_kept(own.double())


@pytest.mark.fine
def test_stays_on_the_device(answer, device, gen):
    """Readings on another device are clipped there: no number is copied to the host."""
    x = readings(gen, 3, 5)
    there, wanted = x.to(device), clipped(x, -1.0, 2.0)
    with count_traffic() as traffic:
        yours = answer.clip_outliers(there, -1.0, 2.0)
    expect_equal(yours.device, there.device, "the device of clip_outliers(x, -1.0, 2.0)")
    expect_equal(on_host(yours), wanted, "clip_outliers(x, -1.0, 2.0)")
    expect_equal(traffic.to_host, 0, "the number of copies to the host by clip_outliers(x, -1.0, 2.0)")
