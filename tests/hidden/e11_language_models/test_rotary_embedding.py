"""What grades rotary_embedding: pairs, positions, gradients; half precision, shapes, devices, errors."""

import math

import torch

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
)


def turned(
    x, offset=0, base=10_000.0, interleaved=False, speed=lambda i, dim: 2 * i / dim, sign=1.0, cos=math.cos
):
    """Feature by feature; what comes after `interleaved` is as people get it wrong."""
    (time, dim), result = x.shape[-2:], x.clone()
    for t in range(time):
        for i in range(dim // 2):
            first, second = (2 * i, 2 * i + 1) if interleaved else (i, i + dim // 2)
            angle = (offset + t) * base ** -speed(i, dim)
            a, b, c, s = x[..., t, first], x[..., t, second], cos(angle), sign * math.sin(angle)
            result[..., t, first], result[..., t, second] = a * c - b * s, a * s + b * c
    return result


def wrong(**how):
    return lambda *given, **options: turned(*given, **options, **how)


def other_pairs(x, *given, interleaved=False, **options):
    return turned(x, *given, interleaved=not interleaved, **options)


def moved(x, *given, interleaved=False, **options):
    """Pairs of neighbours whose results lie in halves."""
    result = turned(x, *given, interleaved=interleaved, **options)
    return torch.cat([result[..., 0::2], result[..., 1::2]], -1) if interleaved else result


def over_heads(x, *given, **options):
    return turned(x.transpose(-3, -2), *given, **options).transpose(-3, -2)


def from_one(x, offset=0, **options):
    return turned(x, offset + 1, **options)


def halfway(x, offset=0, **options):
    """Angles from numbers in x's own dtype."""
    time, dim = x.shape[-2:]
    positions = torch.arange(offset, offset + time).to(x.dtype)
    angles = positions[:, None] * (options.get("base", 10_000.0) ** (-torch.arange(0, dim, 2) / dim)).to(
        x.dtype
    )
    cos, sin = angles.cos().repeat(1, 2).to(x.dtype), angles.sin().repeat(1, 2).to(x.dtype)
    return x * cos + torch.cat([-x[..., dim // 2 :], x[..., : dim // 2]], -1) * sin


def heads(gen):
    def drawn(*shape):
        return torch.randn(shape, generator=gen)

    return {
        "one sequence": given(drawn(5, 6)),
        "as many heads as tokens": given(drawn(2, 4, 4, 6)),
        "an offset": given(drawn(3, 5, 8), 3),
        "another base": given(drawn(4, 6), offset=2, base=50.0),
        "interleaved": given(drawn(2, 5, 6), interleaved=True),
        "interleaved, with an offset and a base": given(drawn(4, 8), 7, base=50.0, interleaved=True),
    }


def far(gen):
    """Positions that bfloat16 does not have."""
    return {
        "far from the beginning": given(torch.randn(6, 8, generator=gen), 321),
        "far from the beginning, interleaved": given(torch.randn(6, 8, generator=gen), 321, interleaved=True),
    }


contract = Contract(
    "rotary(x, offset)",
    reference=turned,
    inputs=heads,
    gradient="x",
    ulps=100,
    suspects={
        "pairs are those of the other convention": other_pairs,
        "interleaved results lie in halves: put each where its pair was": moved,
        "angles are negative: the minus belongs to the first of a pair": wrong(sign=-1.0),
        "base ** (-i / dim): there is a 2 in front of i": wrong(speed=lambda i, dim: i / dim),
        "offset is left out": lambda x, offset=0, **options: turned(x, **options),
        "positions begin at 1: the first is 0": from_one,
        "base is left out": lambda x, offset=0, base=0.0, **options: turned(x, offset, **options),
        "positions run along the heads: time is the last dimension but one": over_heads,
    },
    job=[
        flat_cost(
            {
                "positions": lambda n: torch.ones(2, n, 4),
                "pairs": lambda n: given(torch.ones(3, 2 * n), interleaved=True),
            }
        )
    ],
    fine=[
        half_precision(
            inputs=far,
            scale=0.5,
            suspects={"angles are computed in half precision": halfway},
        ),
        dtypes(torch.float64, inputs=far, name="float64", title="float64 is computed in float64."),
        strides(),
        values(
            inputs=lambda gen: {
                "five dimensions": given(torch.randn(2, 1, 3, 4, 2, generator=gen), 1),
                "a single token": given(torch.randn(2, 1, 6, generator=gen), 9),
            },
            name="other_shapes",
            title="There may be any dimensions in front of time, and a single token.",
        ),
        empties(
            inputs=lambda gen: [
                given(torch.ones(shape), interleaved=interleaved)
                for shape in [(0, 3, 4), (2, 0, 4), (2, 3, 0)]
                for interleaved in (False, True)
            ],
            title="Where a size is 0 the result is empty as well.",
        ),
        untouched(),
        device(),
        errors(
            (ValueError, RuntimeError),
            lambda gen: [
                given(torch.ones(2, dim), interleaved=interleaved)
                for dim in (3, 5)
                for interleaved in (False, True)
            ],
            title="An odd number of features raises an error.",
        ),
    ],
)
