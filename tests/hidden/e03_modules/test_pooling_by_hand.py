"""What grades pooling_by_hand: windows, strides, padding, gradients; dtypes, -inf, devices, errors."""

import math

import torch
from torch.nn import functional as F

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    given,
    strides,
    untouched,
    values,
    without,
)

OWN = (
    "max_pool1d", "max_pool2d", "max_pool3d", "max_pool2d_with_indices", "max_pool3d_with_indices",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_max_pool2d", "adaptive_avg_pool2d", "lp_pool2d",
    "fractional_max_pool2d",
)  # fmt: skip


def largest(x, kernel, stride=None, padding=0, ceil=False):
    return F.max_pool2d(x, kernel, stride, padding, 1, ceil)


def mean(x, kernel, stride=None, padding=0, count_include_pad=True, ceil=False):
    return F.avg_pool2d(x, kernel, stride, padding, ceil, count_include_pad)


def padded(pool):
    """With a border of zeros that are numbers like others."""
    return lambda x, kernel, stride=None, padding=0, **options: pool(
        F.pad(x, [padding] * 4), kernel, stride, **options
    )


def in_front(pool):
    """All of the padding is on top and on the left, and counts or doesn't."""

    def pooled(x, kernel, stride=None, padding=0, count_include_pad=True):
        filled = -math.inf if pool is largest else 0.0
        result, ones = (
            pool(F.pad(t, [padding, 0, padding, 0], value=filled), kernel, stride)
            for t in (x, torch.ones_like(x))
        )
        return result if count_include_pad else result / ones

    return pooled


def mistakes(pool):
    """What people compute instead, of either pooling."""
    return {
        "without a stride it is 1: it should be the kernel": lambda x, kernel, stride=None, *more, **how: (
            pool(x, kernel, stride or 1, *more, **how)
        ),
        "stride is ignored: windows lie side by side": lambda x, kernel, stride=None, *more, **options: pool(
            x, kernel, None, *more, **options
        ),
        "padding is left out": lambda x, kernel, stride=None, padding=0, **options: pool(
            x, kernel, stride, **options
        ),
        "windows that do not fit are taken as well": lambda *given, **options: pool(
            *given, **options, ceil=True
        ),
        "all of the padding is on top and on the left": in_front(pool),
    }


def pictures(gen):
    def drawn(*shape):
        return torch.randn(shape, generator=gen) - 1.0

    return {
        "windows side by side": given(drawn(2, 3, 6, 4), 2),
        "windows that do not fit": given(drawn(2, 1, 8, 7), 3),
        "a square picture": given(drawn(2, 2, 4, 4), 2),
        "windows that overlap": given(drawn(2, 3, 6, 7), 3, 2),
        "stride=1": given(drawn(1, 2, 4, 5), 2, stride=1),
        "places between windows": given(drawn(2, 2, 7, 9), 2, 3),
        "padding=1": given(drawn(2, 3, 5, 6), 3, 2, padding=1),
        "padding=2": given(drawn(2, 2, 4, 7), 4, padding=2),
    }


def without_padding_counted(gen):
    def drawn(*shape):
        return 3.0 + torch.randn(shape, generator=gen)

    return {
        "zeros in the picture": given(
            drawn(2, 3, 6, 5).clamp(min=3.0) - 3.0, 3, 2, padding=1, count_include_pad=False
        ),
        "a mean over what is there, padding=1": given(
            drawn(2, 2, 5, 6), 3, 2, padding=1, count_include_pad=False
        ),
        "a mean over what is there, padding=2": given(
            drawn(1, 3, 4, 5), 5, 1, padding=2, count_include_pad=False
        ),
        "a mean over what is there, no padding": given(drawn(2, 2, 6, 5), 2, count_include_pad=False),
    }


def without_zeros(x, kernel, stride=None, padding=0, count_include_pad=True):
    """The mean, but with every 0 taken for padding."""
    right = mean(x, kernel, stride, padding)
    if count_include_pad:
        return right
    share = mean((x != 0).to(x.dtype), kernel, stride, padding)
    return right / share.clamp(min=1 / kernel**2)


JOB = [
    without(*OWN),
    flat_cost(
        {
            "pictures": lambda n: given(torch.ones(n, 2, 6, 6), 2),
            "channels": lambda n: given(torch.ones(1, n, 6, 6), 2),
            "places": lambda n: given(torch.ones(1, 2, n, n), 2),
        }
    ),
]
FINE = [
    empties(
        inputs=lambda gen: [given(torch.ones(0, 2, 5, 4), 3, 2, padding=1)],
        title="No pictures give no results, of the right shape.",
    ),
    strides(),
    untouched(),
    device(),
    errors(
        (ValueError, RuntimeError),
        lambda gen: {
            "padding=2 for kernel=3": given(torch.ones(1, 1, 5, 5), 3, padding=2),
            "padding=1 for kernel=1": given(torch.ones(1, 1, 5, 5), 1, padding=1),
            "a kernel larger than the picture": given(torch.ones(1, 1, 3, 6), 4),
        },
        title="Too much padding, and a kernel that is too large, raise an error.",
    ),
]

max_pool2d = Contract(
    "max_pool2d(x, kernel, stride, padding)",
    reference=largest,
    inputs=pictures,
    gradient="x",
    dims="batch channels height width",
    suspects=mistakes(largest)
    | {
        "padding of zeros is larger than what is there: fill it with -inf": padded(largest),
        "the mean comes back, not the maximum": mean,
    },
    job=JOB,
    fine=[
        *FINE,
        dtypes(torch.float64, torch.bfloat16),
        values(
            inputs=lambda gen: {
                "a window of -inf": given(torch.full((1, 2, 4, 4), -math.inf), 2, padding=1),
                "a single number": given(torch.randn(1, 1, 1, 1, generator=gen), 2, padding=1),
            },
            name="infinite",
            title="A window of nothing but -inf has the maximum -inf.",
        ),
    ],
)
avg_pool2d = Contract(
    "avg_pool2d(x, kernel, stride, padding, count_include_pad)",
    reference=mean,
    inputs=lambda gen: pictures(gen) | without_padding_counted(gen),
    gradient="x",
    dims="batch channels height width",
    scale=4.0,
    suspects=mistakes(mean)
    | {
        "padding counts though count_include_pad is False": padded(mean),
        "zeros of the picture are left out as padding is": without_zeros,
        "padding does not count: by default it does, as zeros": lambda x, *given, **options: mean(
            x, *given, **{"count_include_pad": False, **options}
        ),
        "windows are added up: their mean is asked for": lambda x, kernel, *given, **options: (
            mean(x, kernel, *given, **options) * kernel**2
        ),
    },
    job=JOB,
    fine=[*FINE, dtypes(torch.float64, torch.bfloat16, inputs=without_padding_counted)],
)
