"""What grades conv2d_by_unfold: windows, strides, padding, groups, gradients; dtypes, devices, errors."""

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
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution",
    "convolution_overrideable", "mkldnn_convolution", "slow_conv2d_forward", "thnn_conv2d",
)  # fmt: skip


def convolution(x, weight, bias=None, stride=1, padding=0, groups=1):
    return F.conv2d(x, weight, bias, stride, padding, 1, groups)


def turned(x, weight, *more, **options):
    return convolution(x, weight.flip(2, 3), *more, **options)


def other_axes(x, weight, *more, **options):
    return convolution(x, weight.mT.reshape(weight.shape), *more, **options)


def every_nth(channels, groups):
    """The channels in the order that puts those of one remainder side by side."""
    return torch.arange(channels).view(-1, groups).T.flatten()


def dealt_out(x, weight, bias=None, stride=1, padding=0, groups=1):
    """Groups that are dealt out like cards."""
    return convolution(x[:, every_nth(x.shape[1], groups)], weight, bias, stride, padding, groups)


def dealt_filters(x, weight, bias=None, stride=1, padding=0, groups=1):
    """Results with the groups beside one another, where filters should be."""
    whole = convolution(x, weight, None, stride, padding, groups)
    whole = whole[:, torch.arange(len(weight)).view(groups, -1).T.flatten()]
    return whole if bias is None else whole + bias.view(-1, 1, 1)


def on_top_and_left(x, weight, bias=None, stride=1, padding=0, groups=1):
    padded = F.pad(x, (2 * padding, 0, 2 * padding, 0))
    return convolution(padded, weight, bias, stride, 0, groups)


def columns_as_channels(x, weight, bias=None, stride=1, padding=0, groups=1):
    """Where (batch, places, filters) is reshaped, not transposed."""
    right = convolution(x, weight, bias, stride, padding, groups)
    return right.permute(0, 2, 3, 1).reshape(right.shape)


def without_stride(x, weight, bias=None, stride=1, padding=0, groups=1):
    return convolution(x, weight, bias, 1, padding, groups)


def without_padding(x, weight, bias=None, stride=1, padding=0, groups=1):
    return convolution(x, weight, bias, stride, 0, groups)


def without_bias(x, weight, bias=None, *more, **options):
    return convolution(x, weight, None, *more, **options)


def pictures(gen, x, weight, *, biased=True, **options):
    def drawn(*shape):
        return torch.randn(shape, generator=gen)

    return given(drawn(*x), drawn(*weight), *([drawn(weight[0])] if biased else []), **options)


def empty(gen):
    return [pictures(gen, (0, 2, 5, 4), (3, 2, 2, 3), padding=1)]


contract = Contract(
    "conv2d(x, weight, bias, stride, padding, groups)",
    reference=convolution,
    inputs=lambda gen: {
        "one channel": pictures(gen, (2, 1, 5, 4), (1, 1, 2, 3), biased=False),
        "three channels, four filters": pictures(gen, (2, 3, 6, 5), (4, 3, 3, 2)),
        "a square picture": pictures(gen, (3, 2, 4, 4), (3, 2, 2, 2), biased=False),
        "stride=2": pictures(gen, (2, 3, 8, 5), (4, 3, 3, 2), stride=2),
        "padding=1": pictures(gen, (2, 3, 4, 5), (2, 3, 3, 2), padding=1),
        "groups=2": pictures(gen, (2, 4, 5, 4), (6, 2, 2, 3), groups=2),
        "stride=3, padding=2 and groups=3": pictures(
            gen, (2, 6, 7, 9), (6, 2, 3, 4), stride=3, padding=2, groups=3
        ),
        "a filter for each channel": pictures(gen, (1, 4, 5, 6), (8, 1, 2, 3), groups=4, padding=1),
    },
    gradient="x weight bias",
    dims="batch filters height width",
    scale=4.0,
    suspects={
        "the filter is turned around: it meets the picture as it stands": turned,
        "a filter is laid flat column by column: unfold goes row by row": other_axes,
        "groups are dealt out like cards: channels of a group are neighbours": dealt_out,
        "the filters come out in another order: those of a group are neighbours": dealt_filters,
        "all of the padding is on top and on the left": on_top_and_left,
        "filters and places are mixed up: transpose before you reshape": columns_as_channels,
        "stride is left out": without_stride,
        "padding is left out": without_padding,
        "bias is left out": without_bias,
    },
    job=[
        without(*OWN),
        flat_cost(
            {
                "pictures": lambda n: given(torch.ones(n, 2, 4, 4), torch.ones(3, 2, 2, 2)),
                "places": lambda n: given(torch.ones(1, 2, n, n), torch.ones(3, 2, 2, 2)),
            }
        ),
    ],
    fine=[
        flat_cost(
            lambda n: given(torch.ones(2, 2 * n, 4, 4), torch.ones(3 * n, 2, 2, 2), groups=n),
            over="groups",
            name="no_loop_over_groups",
        ),
        dtypes(torch.float64, torch.bfloat16),
        empties(inputs=empty, title="No pictures give no results, of the right shape."),
        strides(),
        untouched(),
        device(),
        values(
            inputs=lambda gen: {
                "a kernel as large as the picture": pictures(gen, (2, 3, 4, 5), (2, 3, 4, 5)),
                "a stride beyond the picture": pictures(gen, (2, 1, 4, 5), (2, 1, 2, 2), stride=9),
            },
            name="a_single_place",
            title="A single window gives a single number for each filter.",
        ),
        errors(
            (ValueError, RuntimeError),
            lambda gen: {
                "three channels for a weight of two": pictures(gen, (2, 3, 5, 5), (4, 2, 2, 2)),
                "six channels in one group, a weight of three": pictures(gen, (2, 6, 5, 5), (4, 3, 2, 2)),
                "three channels for a weight of one": pictures(gen, (2, 3, 5, 5), (4, 1, 2, 2)),
                "three filters in two groups": pictures(gen, (2, 4, 5, 5), (3, 2, 2, 2), groups=2),
                "a kernel larger than the picture": pictures(gen, (2, 2, 3, 5), (4, 2, 4, 2)),
            },
            title="Sizes that do not fit raise an error.",
        ),
    ],
)
