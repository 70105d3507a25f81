"""What grades stable_softmax: dims, large and masked logits, gradients; slices of -inf, half precision."""

import math

import pytest
import torch

from grader.checks import expect_close
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    given,
    gradients,
    half_precision,
    untouched,
    values,
    without,
)

OWN = (
    "softmax", "log_softmax", "safe_softmax", "softmin", "logsumexp", "special_logsumexp", "logaddexp",
    "logaddexp2", "logcumsumexp", "cross_entropy", "gumbel_softmax", "scaled_dot_product",
)  # fmt: skip


def exact_softmax(x, dim):
    """PyTorch's own, and 0 where it has no softmax to give."""
    hopeless = (x == -math.inf).all(dim, keepdim=True)
    return torch.softmax(x.masked_fill(hopeless, 0.0), dim).masked_fill(hopeless, 0.0)


def shifted_softmax(x, dim, peak):
    powers = (x - peak).exp()
    return powers / powers.sum(dim, keepdim=True)


def shifted_logsumexp(x, dim, peak):
    return ((x - peak).exp().sum(dim, keepdim=True).log() + peak).squeeze(dim)


def mistakes(shifted, exact):
    """What people compute instead."""
    return {
        "-inf - -inf, or 0 / 0, is NaN in a slice of -inf alone": lambda x, dim: shifted(
            x, dim, x.amax(dim, keepdim=True)
        ),
        "logits below 0 are cut off": lambda x, dim: exact(x.clamp(min=0.0), dim),
        "exp of a large logit is inf, and of one far below 0 it is 0: shift each slice first": (
            lambda x, dim: shifted(x.float(), dim, 0.0).double()
        ),
        "a finite number stands for -inf, and counts where all logits are -inf": lambda x, dim: exact(
            x.clamp(min=-1e9), dim
        ),
        "slices far below vanish: the shift is not the largest logit of each slice": lambda x, dim: shifted(
            x, dim, x.amax()
        ),
    }


def plain(gen):
    return {
        "three rows": given(3 * torch.randn(3, 5, generator=gen), 1),
        "a single slice": given(torch.randn(7, generator=gen), -1),
        "three dimensions, along the first": given(torch.randn(2, 3, 4, generator=gen), 0),
        "three dimensions of one size": given(torch.randn(3, 3, 3, generator=gen), -2),
    }


def near(*peaks):
    return lambda gen: {
        f"logits near {p:g}": given(p + 2 * torch.randn(3, 70, generator=gen), 1) for p in peaks
    }


def heights(peak):
    def draw(gen):
        x = torch.tensor([[peak], [0.0], [-peak]]) + torch.randn(3, 5, generator=gen)
        about = f"at {peak:g}, 0 and {-peak:g}"
        return {f"rows {about}": given(x, 1), f"columns {about}": given(x.T, 0)}

    return draw


def masked(peak):
    def draw(gen):
        x = torch.randn(4, 5, generator=gen)
        x[0, 1:3] = x[2, :4] = x[3, 0] = -math.inf
        x[3] += peak
        return {"masked logits": given(x, 1)}

    return draw


def ordinary(gen):
    """Beyond what exp takes in float32, and not so far that a rounded logsumexp shows."""
    return {**plain(gen), **near(120.0, -120.0)(gen), **heights(120.0)(gen), **masked(120.0)(gen)}


def hopeless(gen):
    x = torch.randn(3, 4, generator=gen)
    x[1] = -math.inf
    return {
        "a row of -inf": given(x, 1),
        "a column of -inf": given(x.T.contiguous(), 0),
        "nothing but -inf": given(torch.full((3,), -math.inf), 0),
        "a row of -inf, in float16": given(x.half(), 1),
    }


def close_and_far(gen):
    """Far apart, the shift rounds; close together, so does the sum of logarithm and peak."""
    spreads = {"logits far apart": 4.0, "logits close together": 0.1}
    return {name: given(spread * torch.randn(64, 9, generator=gen), 1) for name, spread in spreads.items()}


def job(scale):
    return [
        values(inputs=plain, title="Every dim is the right one to sum over, from the front or the back."),
        values(
            inputs=near(1e4, -1e4, 120.0, -120.0),
            name="large_logits",
            title="Logits near 1e4 and -1e4 come out as they do near 0.",
            scale=scale,
        ),
        values(
            inputs=heights(1e4),
            name="heights",
            title="Slices at 1e4, 0 and -1e4 do not disturb each other.",
            scale=scale,
        ),
        values(
            inputs=masked(1e4),
            name="masked_logits",
            title="A logit of -inf counts for nothing.",
            scale=scale,
        ),
        gradients("x", scale=120.0),
        without(*OWN, inputs=plain),
    ]


FINE = [
    values(inputs=hopeless, name="slices_of_inf", title="A slice of -inf has softmax 0 and logsumexp -inf."),
    half_precision(inputs=close_and_far),
    dtypes(torch.float64),
    empties(inputs=lambda gen: [(torch.zeros(0, 3), 1), (torch.zeros(2, 3, 0), -2)]),
    untouched(),
    device(inputs=plain),
]

softmax = Contract(
    "softmax(x, dim)",
    reference=exact_softmax,
    suspects=mistakes(shifted_softmax, exact_softmax),
    inputs=ordinary,
    gradient="x",
    job=job(1e4),
    fine=[
        *FINE,
        values(inputs=near(1e4, -1e4), name="digits", title="Near 1e4 a probability keeps all its digits."),
    ],
    fine_inputs=lambda gen: {**hopeless(gen), "float16": given(torch.randn(8, 9, generator=gen).half(), 1)},
)
logsumexp = Contract(
    "logsumexp(x, dim)",
    reference=torch.logsumexp,
    suspects=mistakes(shifted_logsumexp, torch.logsumexp),
    inputs=ordinary,
    gradient="x",
    job=job(None),
    fine=FINE,
    fine_inputs=lambda gen: {**hopeless(gen), "float16": given(torch.randn(8, 9, generator=gen).half(), 1)},
)


@pytest.mark.fine
@pytest.mark.parametrize("name", ["softmax", "logsumexp"])
def test_gradient_of_a_masked_slice(answer, name):
    """The gradient of a slice of -inf alone is 0, not NaN."""
    inf = math.inf
    for others, dtype in [([[0.0, 1.0], [-1e4, -inf]], torch.float32), ([[-1e4, -inf]], torch.float16)]:
        x = torch.tensor([*others, [-inf, -inf]], dtype=dtype, requires_grad=True)
        getattr(answer, name)(x, 1)[-1].sum().backward()
        call = f"the gradient for x through {name}(x, 1), last row of -inf"
        expect_close(x.grad, torch.zeros(len(x), 2, dtype=dtype), call)
