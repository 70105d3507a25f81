"""What grades group_norm: groups, positions, eps, gradients; half precision, digits, devices, errors."""

from functools import partial

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
    half_precision,
    layer,
    loads,
    strides,
    untouched,
    values,
    without,
)

OWN = (
    "batch_norm", "group_norm", "native_group_norm", "instance_norm", "layer_norm", "native_layer_norm",
    "rms_norm",
)  # fmt: skip


def per_channel(t, x):
    return t.view(-1, *[1] * (x.dim() - 2))


def neighbours(channels, groups):
    return torch.arange(channels).chunk(groups)


def written_out(
    state,
    x,
    groups=1,
    eps=1e-5,
    blocks=neighbours,
    over=lambda block: tuple(range(1, block.dim())),
    correction=0,
    after=0.0,
    scaled=per_channel,
):
    """The layer group by group; what comes after `eps` is as people get it wrong."""
    y = torch.empty_like(x)
    for block in blocks(x.shape[1], groups):
        part = x[:, block]
        var, mean = torch.var_mean(part, over(part), correction=correction, keepdim=True)
        y[:, block] = (part - mean) / ((var + eps).sqrt() + after)
    return y * scaled(state["weight"], x) + scaled(state["bias"], x)


def wrong(**how):
    return partial(written_out, **how)


def dealt_out(channels, groups):
    return [torch.arange(first, channels, groups) for first in range(groups)]


def of_a_size(channels, groups):
    """As if `groups` were the number of channels in each."""
    return torch.arange(channels).split(groups)


def eps_outside(state, x, groups=1, eps=1e-5):
    return written_out(state, x, groups, eps=0.0, after=eps)


def along_positions(t, x):
    """Where weight meets the last dimension."""
    return t if x.shape[-1] == len(t) else per_channel(t, x)


def pictures(gen, groups, *shape, size=2.0, offset=1.0, **options):
    def drawn(*sizes):
        return torch.randn(sizes, generator=gen)

    channels = shape[1]
    state = {"weight": drawn(channels), "bias": drawn(channels)}
    return layer(groups, channels, state=state, **options), offset + size * drawn(*shape)


def called(gen, *sizes, **options):
    built, x = pictures(gen, *sizes, **options)
    return built(x)


def predicting(gen, *sizes, **options):
    built, x = pictures(gen, *sizes, **options)
    return built.eval()(x)


def all_sizes(gen):
    """Pictures whose squares a half cannot hold, and pictures of ordinary numbers."""
    built, x = pictures(gen, 2, 4, 6, 5, 5, offset=0.0, size=1.0)
    return {"pictures of all sizes": built(x * torch.tensor([1.0, 30.0, 400.0, 8000.0]).view(4, 1, 1, 1))}


contract = Contract(
    "GroupNorm(groups, channels, eps)(x)",
    reference=written_out,
    inputs=lambda gen: {
        "two groups of three channels": called(gen, 2, 3, 6, 4, 5),
        "three groups of two channels": called(gen, 3, 2, 6, 5, 3),
        "one group": called(gen, 1, 3, 4, 3, 2),
        "a group for each channel": called(gen, 4, 2, 4, 3, 5),
        "as many positions as channels": called(gen, 2, 3, 4, 2, 4),
        "sequences": called(gen, 2, 5, 8, 7),
        "rows, without positions": called(gen, 2, 4, 10),
        "a single picture, in evaluation mode": predicting(gen, 2, 1, 6, 4, 5),
        "several pictures, in evaluation mode": predicting(gen, 3, 4, 6, 2, 5),
        "volumes": called(gen, 2, 2, 4, 3, 2, 4),
        "a large eps": called(gen, 2, 3, 4, 5, 3, eps=2.0),
    },
    gradient="x weight bias",
    scale=32.0,
    suspects={
        "groups are dealt out like cards: channels of a group are neighbours": wrong(blocks=dealt_out),
        "groups is taken for the number of channels in a group": wrong(blocks=of_a_size),
        "each channel is normalised alone: that is instance norm": wrong(
            blocks=lambda channels, groups: torch.arange(channels).split(1)
        ),
        "all channels are one group: that is layer norm": wrong(
            blocks=lambda channels, groups: [torch.arange(channels)]
        ),
        "statistics are taken over the batch as well: each picture has its own": wrong(
            over=lambda block: tuple(range(block.dim()))
        ),
        "statistics are taken over the channels of a group alone: positions count as well": wrong(
            over=lambda block: (1,)
        ),
        "the variance is divided by n - 1: divide by n": wrong(correction=1),
        "eps is added to the root, not under it": eps_outside,
        "eps is not added, or not the one that is given": lambda state, x, groups: written_out(
            state, x, groups, eps=0.0
        ),
        "weight and bias run along the last dimension: they are for channels": wrong(scaled=along_positions),
        "weight is left out": lambda state, x, groups: written_out(
            state | {"weight": torch.ones_like(state["weight"])}, x, groups
        ),
        "bias is left out": lambda state, x, groups: written_out(
            state | {"bias": torch.zeros_like(state["bias"])}, x, groups
        ),
    },
    job=[
        values(
            inputs=lambda gen: {
                "small numbers": called(gen, 2, 3, 4, 5, size=2e-3, offset=0.0),
                "small numbers, with an eps": called(gen, 2, 3, 4, 5, size=0.03, offset=0.0, eps=1e-3),
            },
            name="eps",
            title="eps is added under the root, and is 1e-5 without another word.",
        ),
        loads(),
        without(*OWN),
        flat_cost(
            {
                "pictures": lambda n: layer(2, 4)(torch.ones(n, 4, 3)),
                "groups": lambda n: layer(n, 2 * n)(torch.ones(2, 2 * n, 3)),
                "positions": lambda n: layer(2, 4)(torch.ones(2, 4, n)),
            }
        ),
    ],
    fine=[
        half_precision(
            inputs=all_sizes,
            of="x",
            scale=0.01,
            title="Half precision is computed in float32, and rounded once.",
        ),
        dtypes(
            *(torch.bfloat16, torch.float64),
            of="x",
            name="dtype_of_x",
            title="The result has the dtype of x, not that of the layer.",
        ),
        dtypes(torch.float64, name="float64", title="A float64 layer keeps float64."),
        empties(title="No pictures give no results."),
        strides(inputs=lambda gen: {"pictures": called(gen, 2, 3, 6, 4, 5), "rows": called(gen, 2, 4, 10)}),
        untouched(),
        device(),
        errors(
            ValueError,
            lambda gen: [layer(4, 6), layer(6, 3), layer(5, 8)],
            name="uneven_groups",
            title="Channels that are no multiple of groups raise ValueError.",
        ),
        errors(
            (ValueError, RuntimeError),
            lambda gen: {
                "x of (2, 4, 3) for six channels": layer(2, 6)(torch.ones(2, 4, 3)),
                "x of (2, 12, 3) for six channels": layer(2, 6)(torch.ones(2, 12, 3)),
                "x of (3, 2, 5) for one channel": layer(1, 1)(torch.ones(3, 2, 5)),
            },
            title="Another number of channels raises an error, also where it would broadcast.",
        ),
    ],
)


@pytest.mark.fine
def test_digits(answer, gen):
    """Numbers near 10000 keep their digits."""
    x = 10_000 + torch.randn(2, 4, 30, generator=gen)
    state = {"weight": torch.ones(4), "bias": torch.zeros(4)}
    wanted = written_out(state, x.double(), groups=2)
    error = float((answer.GroupNorm(2, 4)(x) - wanted).abs().nan_to_num(torch.inf).max())
    likely = "mean(x²) - mean² is the small difference of two large numbers"
    told = "GroupNorm(2, 4)(x) for x near 10000 loses its digits"
    expect_that(error < 0.01, told, yours=f"wrong by up to {error:.2g}", likely=likely)
