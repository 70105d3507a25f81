"""What grades standardize: dimensions, correction, eps, gradients; precision, constants, cost."""

from functools import reduce

import torch

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    given,
    gradients,
    half_precision,
    untouched,
    values,
)


def draw(gen, *sizes):
    """Features whose means and sizes differ along every dimension."""
    x = 3 * torch.randn(sizes, generator=gen)
    return x + torch.arange(x.numel()).view(sizes) / 5


def exact(x, dim, correction=0, eps=1e-5, after=0.0):
    """The formula of the statement, term by term."""
    dims = (dim,) if isinstance(dim, int) else dim
    count = torch.Size(x.shape[d] for d in dims).numel()
    centred = x - x.sum(dims, keepdim=True) / count
    variance = (centred * centred).sum(dims, keepdim=True) / (count - correction)
    return centred / ((variance + eps).sqrt() + after)


def one_by_one(x, dim, correction=0, eps=1e-5):
    dims = (dim,) if isinstance(dim, int) else dim
    return reduce(lambda x, d: exact(x, d, correction, eps), dims, x)


def but(**other):
    """The formula with something else than what the call says."""
    return lambda x, dim, **options: exact(x, **{"dim": dim, **options, **other})


SUSPECTS = {
    "mean and variance are those along the last dimension": but(dim=-1),
    "one dimension after the other: a tuple has one mean and one variance together": one_by_one,
    "the sum of squares is divided by n - 1, not by n - correction": but(correction=1),
    "the sum of squares is divided by n, not by n - correction": but(correction=0),
    "eps is added to the standard deviation, not to the variance": lambda x, dim, correction=0, eps=1e-5: (
        exact(x, dim, correction, 0.0, after=eps)
    ),
    "eps is not added to the variance": but(eps=0.0),
    "1e-5 is added to the variance, not the eps of the call": but(eps=1e-5),
}


def small(gen):
    """Numbers beside which eps counts."""
    x = torch.randn(4, 6, generator=gen) / 200
    calls = {f"with eps={eps:g}": given(x.clone(), -1, eps=eps) for eps in (0.5, 1e-3, 1e-12)}
    return {"small numbers": given(x, 1), **calls}


def corrected(gen):
    return {
        "with correction": given(draw(gen, 3, 7, 5), 1, correction=1),
        "over two dimensions, with correction": given(draw(gen, 3, 7, 5), (0, 2), correction=1),
        "with a correction of 2": given(draw(gen, 3, 7), -1, correction=2),
    }


def wide_range(gen):
    return {
        "numbers near 1000": given(900 * torch.randn(8, 32, generator=gen), 1),
        "small numbers": given(torch.randn(8, 32, generator=gen) / 50, 1),
    }


def far_from_zero(gen):
    x = 30000 + torch.randn(33, 64, generator=gen)
    return {"30000 + noise": given(x, 1), "30000 + noise, in float64": given(x.double(), 1)}


def equal_numbers(gen):
    x = torch.tensor([[7.25] * 4, [0.0] * 4, [0.0, 0.003, -0.001, 0.002]])
    return {"equal numbers": given(x, 1), "single numbers": given(x[2:].T.clone(), 1)}


contract = Contract(
    "standardize(x, dim)",
    reference=exact,
    scale=20.0,
    suspects=SUSPECTS,
    inputs=lambda gen: {
        "along the last dimension": given(draw(gen, 4, 6), -1),
        "along the first dimension": given(draw(gen, 6, 5, 3), 0),
        "of a single dimension": given(draw(gen, 7), 0),
        "over two dimensions of four": given(draw(gen, 2, 3, 4, 5), (1, 2)),
        "over two dimensions, with correction and eps": given(
            draw(gen, 3, 4, 5), (0, -1), correction=1, eps=1e-3
        ),
    },
    gradient="x",
    job=[
        values(
            name="correction",
            title="The sum of squares is divided by n - correction, n all numbers of one variance.",
            inputs=corrected,
        ),
        values(
            name="eps",
            title="eps is added to the variance under the root, and its default is 1e-5.",
            inputs=small,
            scale=1.0,
        ),
        flat_cost(lambda n: (torch.rand(n, n), 1), over="rows and features"),
    ],
    fine=[
        half_precision(inputs=wide_range, scale=0.05),
        dtypes(torch.float64, torch.float16),
        values(
            name="far_from_zero",
            title="Numbers such as 30000 + noise keep the digits that they have.",
            inputs=far_from_zero,
            ulps=8,
            scale=3e4,
        ),
        gradients(
            "x",
            name="gradient_of_equal_numbers",
            title="Equal numbers have a finite gradient, and the right one.",
            inputs=equal_numbers,
        ),
        empties(inputs=lambda gen: [(torch.zeros(0, 4), 1), (torch.zeros(3, 0, 2), -1)]),
        untouched(),
        device(),
    ],
    fine_inputs=lambda gen: {"half precision": given((900 * torch.randn(3, 64, generator=gen)).half(), 1)},
)
