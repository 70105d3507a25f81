"""What grades layer_norm: dimensions, variance, eps, gradients; half precision, digits, devices, errors."""

import pytest
import torch

from grader.checks import expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    given,
    half_precision,
    strides,
    untouched,
    values,
    without,
)

OWN = (
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "native_layer_norm", "rms_norm",
)  # fmt: skip


def normed(
    x,
    shape,
    weight=None,
    bias=None,
    eps=1e-5,
    over=lambda x, shape: tuple(range(-len(shape), 0)),
    correction=0,
    after=0.0,
):
    """The formula as it stands; what comes after `eps` is as people get it wrong."""
    dims = over(x, shape)
    var, mean = torch.var_mean(x, dims, correction=correction, keepdim=True)
    y = (x - mean) / ((var + eps).sqrt() + after)
    return (y if weight is None else y * weight) + (0.0 if bias is None else bias)


def wrong(**how):
    return lambda *given, **options: normed(*given, **{**options, **how})


def eps_outside(*given, eps=1e-5, **options):
    return normed(*given, eps=0.0, after=eps, **options)


def bias_first(x, shape, weight=None, bias=None, eps=1e-5):
    shifted = normed(x, shape, None, bias, eps)
    return shifted if weight is None else shifted * weight


def rounded_before(x, shape, weight=None, bias=None, eps=1e-5):
    """Rounded before weight and bias."""
    y = normed(x.float(), shape, eps=eps).to(x.dtype)
    return y * weight + bias


def examples(gen, *sizes, last=1, size=2.0, offset=1.0, weighed=True, shifted=True, **options):
    def drawn(*sizes):
        return torch.randn(sizes, generator=gen)

    shape = sizes[-last:]
    weight, bias = drawn(*shape) if weighed else None, drawn(*shape) if shifted else None
    return given(offset + size * drawn(*sizes), shape, weight, bias, **options)


def all_sizes(gen):
    """Rows whose squares a half cannot hold, and rows of ordinary numbers."""
    sizes = torch.tensor([1.0, 30.0, 400.0, 8000.0])[:, None]
    x = sizes * torch.randn(4, 48, generator=gen)
    return {"rows of all sizes": given(x, (48,), *torch.randn(2, 48, generator=gen))}


contract = Contract(
    "layer_norm(x, shape, weight, bias, eps)",
    reference=normed,
    inputs=lambda gen: {
        "rows": examples(gen, 5, 4),
        "as many rows as features": examples(gen, 3, 3),
        "a single row": examples(gen, 6),
        "sequences": examples(gen, 2, 5, 4),
        "pictures, over three dimensions": examples(gen, 2, 3, 4, 5, last=3),
        "over the last two of four": examples(gen, 2, 3, 5, 4, last=2),
        "everything": examples(gen, 4, 3, last=2),
        "without weight and bias": examples(gen, 3, 4, 2, last=2, weighed=False, shifted=False),
        "without weight": examples(gen, 4, 5, weighed=False),
        "without bias": examples(gen, 4, 5, shifted=False),
        "a large eps": examples(gen, 4, 6, eps=2.0),
    },
    gradient="x weight bias",
    scale=32.0,
    suspects={
        "the variance is divided by n - 1: divide by n": wrong(correction=1),
        "the mean is over the last dimension alone: `shape` has more": wrong(over=lambda x, shape: (-1,)),
        "the mean is taken over all of x: each example has its own": wrong(
            over=lambda x, shape: tuple(range(x.dim()))
        ),
        "the mean is taken over the batch: that is batch norm": wrong(
            over=lambda x, shape: tuple(range(max(1, x.dim() - len(shape))))
        ),
        "eps is added to the root, not under it": eps_outside,
        "eps is not added, or not the one that is given": wrong(eps=0.0),
        "weight is left out": lambda x, shape, weight=None, *more, **options: normed(
            x, shape, None, *more, **options
        ),
        "bias is left out": lambda x, shape, weight=None, bias=None, **options: normed(
            x, shape, weight, **options
        ),
        "bias is multiplied by weight: it comes last": bias_first,
        "the mean is not taken off: that is RMS norm": lambda x, shape, weight=1.0, bias=0.0, eps=1e-5: (
            x / (x.square().mean(tuple(range(-len(shape), 0)), keepdim=True) + eps).sqrt() * weight + bias
        ),
    },
    job=[
        values(
            inputs=lambda gen: {
                "small numbers": examples(gen, 4, 6, size=2e-3, offset=0.0, shifted=False),
                "small numbers, over two dimensions, with an eps": examples(
                    gen, 4, 6, 3, last=2, size=0.03, offset=0.0, shifted=False, eps=1e-3
                ),
            },
            name="eps",
            title="eps is added under the root, and is 1e-5 without another word.",
        ),
        without(*OWN),
        flat_cost(
            {
                "rows": lambda n: given(torch.ones(n, 3, 2), (3, 2)),
                "features": lambda n: given(torch.ones(2, 3, n), (3, n)),
            }
        ),
    ],
    fine=[
        half_precision(
            inputs=all_sizes,
            scale=0.01,
            suspects={
                "it is rounded before weight and bias, and again after them": rounded_before,
                "squares of large numbers are inf in float16": normed,
            },
        ),
        dtypes(
            *(torch.bfloat16, torch.float64),
            of="x",
            name="dtype_of_x",
            title="The result has the dtype of x, not that of weight and bias.",
        ),
        dtypes(torch.float64, name="float64", title="float64 stays float64."),
        empties(
            inputs=lambda gen: [
                given(torch.ones(0, 3), (3,)),
                given(torch.ones(2, 0, 4, 3), (4, 3), torch.ones(4, 3), torch.ones(4, 3)),
            ],
            title="No examples give no results.",
        ),
        strides(
            inputs=lambda gen: {
                "sequences": examples(gen, 2, 5, 4),
                "over two dimensions": examples(gen, 3, 5, 4, last=2),
            }
        ),
        untouched(),
        device(),
        errors(
            (ValueError, RuntimeError),
            lambda gen: {
                "rows of four for a shape of three": given(torch.ones(2, 4), (3,)),
                "rows of one for a shape of three": given(torch.ones(2, 1), (3,), torch.ones(3)),
                "(3, 4) for a shape of (4, 3)": given(torch.ones(2, 3, 4), (4, 3)),
                "a row for a shape of two dimensions": given(torch.ones(4), (4, 4)),
                "a weight of one for a shape of three": given(torch.ones(2, 3), (3,), torch.ones(1)),
                "a bias for each row and feature": given(torch.ones(2, 3), (3,), None, torch.ones(2, 3)),
            },
            title="Another shape raises an error, also where it would broadcast.",
        ),
    ],
)


@pytest.mark.fine
def test_digits(answer, gen):
    """Numbers near 10000 keep their digits."""
    x = 10_000 + torch.randn(5, 64, generator=gen)
    wanted = normed(x.double(), (64,))
    error = float((answer.layer_norm(x, (64,)) - wanted).abs().nan_to_num(torch.inf).max())
    likely = "mean(x²) - mean² is the small difference of two large numbers"
    told = "layer_norm(x, (64,)) for x near 10000 loses its digits"
    expect_that(error < 0.01, told, yours=f"wrong by up to {error:.2g}", likely=likely)
