"""What grades packed_int4: scales, rounding, bytes, the way back; equal and small weights, half precision."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.contract import (
    Contract,
    device,
    empties,
    errors,
    flat_cost,
    given,
    strides,
    untouched,
)


def by_pairs(q):
    return q[:, 0::2] + 16 * q[:, 1::2]


def by_halves(q):
    half = q.shape[1] // 2
    return q[:, :half] + 16 * q[:, half:]


def quantized(weight, group_size, steps=15, how=torch.round, byte=by_pairs, ends=None):
    """What `pack` returns; what comes after `group_size` is as people get it wrong."""
    groups = weight.reshape(len(weight), weight.shape[1] // group_size, group_size)
    low, high = ends(groups) if ends else (groups.amin(2), groups.amax(2))
    scale = (high - low) / steps
    q = how((groups - low[..., None]) / scale[..., None])
    return byte(q.clamp(0, 15).flatten(1)).to(torch.uint8), scale, low


def wrong(**how):
    return lambda weight, group_size: quantized(weight, group_size, **how)


def cut_off(weight, group_size):
    """In float32, as the answer: there the largest may be 14.999999 steps away."""
    return quantized(weight.float(), group_size, how=torch.floor)


def around_zero(groups):
    largest = groups.abs().amax(2)
    return -largest, largest


def with_zero(groups):
    return groups.amin(2).clamp(max=0), groups.amax(2).clamp(min=0)


def whole_rows(weight, group_size):
    """One range for a row, told again for each of its groups."""
    packed, scale, low = quantized(weight, weight.shape[1])
    groups = weight.shape[1] // group_size
    return packed, scale.repeat(1, groups), low.repeat(1, groups)


def signed(weight, group_size):
    packed, *others = quantized(weight, group_size)
    return packed.view(torch.int8), *others


def clear(gen, out, groups, group_size):
    """Weights whose groups have ranges of their own, each far from the middle between two steps."""
    q = torch.randint(1, 15, (out, groups, group_size), generator=gen)
    q = q + 0.6 * torch.rand(q.shape, generator=gen) - 0.3
    first, last = torch.randperm(group_size, generator=gen)[:2]
    q[..., first], q[..., last] = 0.0, 15.0
    scale = 0.1 + torch.rand((out, groups, 1), generator=gen)
    return (scale * (q - 3 - 9 * torch.rand((out, groups, 1), generator=gen))).flatten(1)


def weights(gen):
    return {
        "four rows": given(clear(gen, 4, 3, 6), 6),
        "a group for each row": given(clear(gen, 5, 1, 8), 8),
        "as many rows as columns": given(clear(gen, 8, 2, 4), 4),
        "weights far from 0": given(clear(gen, 3, 2, 6) + 40.0, 6),
    }


pack = Contract(
    "pack(weight, group_size)",
    reference=quantized,
    inputs=weights,
    ulps=200,
    suspects={
        "the first of two columns is in the high four bits": wrong(
            byte=lambda q: by_pairs(q.unflatten(1, (-1, 2)).flip(2).flatten(1))
        ),
        "a byte holds a column of the first half and one of the second: neighbours are asked for": wrong(
            byte=by_halves
        ),
        "the quotient is cut off: round it before the cast": cut_off,
        "the range is divided by 16: it has 15 steps": wrong(steps=16),
        "the scale is that of an interval around 0: largest - smallest is asked for": wrong(ends=around_zero),
        "the range is stretched to hold 0: low is the smallest weight": wrong(ends=with_zero),
        "the range is that of the whole row: each group has its own": whole_rows,
        "packed is signed: it is uint8": signed,
    },
    fine=[
        empties(inputs=lambda gen: [given(torch.ones(0, 8), 4)], title="Without rows the results are empty."),
        strides(),
        untouched(),
        device(),
        errors(
            (ValueError, RuntimeError),
            lambda gen: [given(torch.ones(2, 10), 4), given(torch.ones(3, 9), 3), given(torch.ones(2, 4), 8)],
            title="Columns that are no pairs or no groups raise an error.",
        ),
        flat_cost(
            {
                "rows": lambda n: (torch.arange(8.0 * n).reshape(n, 8), 4),
                "groups": lambda n: (torch.arange(8.0 * n).reshape(2, 4 * n), 4),
            }
        ),
    ],
)


def in_turn(low, high):
    return torch.stack([low, high], 2).flatten(1)


def restored(
    packed,
    scales,
    lows,
    bits=lambda packed: in_turn(packed % 16, packed // 16),
    mix=lambda q, scale, low: q * scale + low,
    spread=lambda t, size: t.repeat_interleave(size, 1),
):
    """What `unpack` returns; what comes after `lows` is as people get it wrong."""
    q = bits(packed).double()
    size = q.shape[1] // scales.shape[1]
    return mix(q, spread(scales, size), spread(lows, size))


def otherwise(**how):
    return lambda *call: restored(*call, **how)


def packets(gen, out, groups, group_size):
    packed = torch.randint(0, 256, (out, groups * group_size // 2), generator=gen, dtype=torch.uint8)
    scales = 0.1 + torch.rand(out, groups, generator=gen)
    return given(packed, scales, 3 * torch.randn(out, groups, generator=gen))


unpack = Contract(
    "unpack(packed, scales, lows)",
    reference=restored,
    inputs=lambda gen: {
        "four rows": packets(gen, 4, 3, 6),
        "a group for each row": packets(gen, 5, 1, 8),
        "as many groups as weights in one": packets(gen, 3, 4, 4),
    },
    suspects={
        "the first of two columns is taken from the high four bits": otherwise(
            bits=lambda packed: in_turn(packed // 16, packed % 16)
        ),
        "low bits are in the first half of the row, high ones in the second: they are neighbours": otherwise(
            bits=lambda packed: torch.cat([packed % 16, packed // 16], 1)
        ),
        "the high bits are still in the first of two columns: `& 15` takes the low ones": otherwise(
            bits=lambda packed: in_turn(packed, packed // 16)
        ),
        "lows are left out": otherwise(mix=lambda q, scale, low: q * scale),
        "lows are added before the product": otherwise(mix=lambda q, scale, low: (q + low) * scale),
        "scales repeat along the row: each belongs to group_size neighbours": otherwise(
            spread=lambda t, size: t.repeat(1, size)
        ),
    },
    fine=[
        empties(inputs=lambda gen: [packets(gen, 0, 2, 4)], title="Without rows the result is empty."),
        untouched(),
        device(),
        flat_cost(
            {
                "rows": lambda n: (torch.ones(n, 4, dtype=torch.uint8), torch.ones(n, 2), torch.ones(n, 2)),
                "groups": lambda n: (
                    torch.ones(2, 2 * n, dtype=torch.uint8),
                    torch.ones(2, n),
                    torch.ones(2, n),
                ),
            }
        ),
    ],
)


def expect_back(answer, weight, group_size, when):
    """Fail unless each weight comes back, off by half its scale at most."""
    packed, scales, lows = answer.pack(weight.clone(), group_size)
    expect_that(bool(scales.isfinite().all()), f"scales are not finite {when}", yours=scales)
    back = answer.unpack(packed, scales, lows)
    groups = weight.unflatten(1, (-1, group_size))
    most = (groups.amax(2) - groups.amin(2)) / 29.9 + 2e-6 * groups.abs().amax(2)
    worst = (back - weight).abs().unflatten(1, (-1, group_size)).amax(2)
    told = f"weights come back off by more than half of their scale {when}"
    expect_that(bool((worst <= most).all()), told, off=worst, most=most)


@pytest.mark.fine
def test_equal_weights(answer, gen):
    """A group of equal weights comes back as it was, beside others that are not equal."""
    weight = clear(gen, 3, 3, 6)
    weight[0, 6:12], weight[1, :6], weight[2, 12:] = 0.0, -2.5, 0.37
    expect_back(answer, weight, 6, "where all weights of a group are equal")


@pytest.mark.fine
def test_small_weights(answer, gen):
    """Weights around 1e-10 come back like others."""
    expect_back(answer, 1e-10 * clear(gen, 3, 2, 6), 6, "where weights are as small as 1e-10")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_half_precision(answer, gen, dtype):
    """Half precision gives what its numbers give in float32."""
    weight = clear(gen, 4, 3, 6).to(dtype)
    wanted = [t.float() if t.is_floating_point() else t for t in quantized(weight.double(), 6)]
    for name, part, exact in zip(("packed", "scales", "lows"), answer.pack(weight, 6), wanted, strict=True):
        expect_close(part, exact, f"{name} from pack(weight, 6) of {dtype}")


@pytest.mark.fine
def test_no_graph(answer, gen):
    """Of a Parameter, no result carries a graph."""
    parts = answer.pack(nn.Parameter(clear(gen, 3, 2, 6)), 6)
    found = tuple(part.requires_grad for part in parts)
    expect_equal(found, (False, False, False), "requires_grad of what pack(a Parameter, 6) returns")
