"""What grades quantize and dequantize: what comes back, channels; half precision, zeros, the device."""

import pytest
import torch
from torch import nn

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that
from grader.checks.contract import Contract, device, flat_cost, given, untouched
from grader.checks.devices import count_traffic, is_simulated, on_host
from grader.checks.rounding import expect_rounded


def draw(gen, *shape, size=1.0):
    """Numbers between -size and size; each index of each dimension has a range of its own."""
    x = 2 * torch.rand(shape, generator=gen) - 1
    for dim, n in enumerate(shape):
        x = x * torch.logspace(0, -1.5, n).view([-1 if d == dim else 1 for d in range(len(shape))])
    return size * x


def absmax_of(x, channel):
    return x.abs().amax(others(x, channel), keepdim=True)


def others(x, channel):
    return [d for d in range(x.ndim) if channel is None or d != channel % x.ndim]


def rounded(x, channel, steps=127, how=torch.round, of=absmax_of, most=127):
    scale = of(x, channel) / steps
    return how(x / scale).clamp(-most, most) * scale


def wrapped(q):
    """What int8 makes of whole numbers that it does not hold."""
    return (q.round() + 128) % 256 - 128


def mistakes(x, channel):
    """What people do, and what comes back then."""
    last = None if channel is None else -1
    return {
        "the quotient is cut off: round it before the cast": lambda: rounded(x, channel, how=torch.trunc),
        "the quotient is rounded down": lambda: rounded(x, channel, how=torch.floor),
        "divided by 128, and the largest number is cut": lambda: rounded(x, channel, steps=128),
        "divided by 128, and the largest number wraps around to -128": lambda: rounded(
            x, channel, steps=128, most=128, how=wrapped
        ),
        "the range is divided by 255 steps": lambda: rounded(x, channel, steps=255),
        "the largest number, not the largest absolute value": lambda: rounded(
            x, channel, of=lambda x, c: x.amax(others(x, c), keepdim=True)
        ),
        "the largest number, not the largest absolute value: others wrap around": lambda: rounded(
            x, channel, most=128, how=wrapped, of=lambda x, c: x.amax(others(x, c), keepdim=True)
        ),
        "one scale for all: every channel gets its own": lambda: rounded(x, None),
        "the scales are those of the last dimension": lambda: rounded(x, last),
        "the scales are those of the first dimension": lambda: rounded(x, 0),
    }


def call_of(x, channel, about=""):
    return f"quantize(x, channel={channel}) of {x.dtype} in shape {tuple(x.shape)}{about}"


def expect_near(q, scale, back, x, channel, about=""):
    """Fail unless every number is back, off by half a scale at most."""
    call, exact = call_of(x, channel, about), x.detach().double()
    expect_equal(tuple(q.shape), tuple(x.shape), f"the shape of q from {call}")
    expect_equal(tuple(back.shape), tuple(x.shape), f"the shape of dequantize(q, scale) after {call}")
    off = (back.detach().double() - exact).abs() / (absmax_of(exact, channel) / 127)
    if bool((off <= 0.501).all()):
        return
    found = (told for told, make in mistakes(x.detach().float(), channel).items() if _same(back, make()))
    worst = tuple(int(index) for index in torch.unravel_index(off.argmax(), off.shape))
    yours = f"{exact[worst]:.4g} at {list(worst)} comes back as {back[worst]:.4g}"
    raise CheckFailure(
        f"numbers come back from {call} off by more than half of their scale",
        likely=next(found, ""),
        yours=f"{yours}, off by {off[worst]:.4g} scales",
        wanted="0.5 scales at most",
    )


def _same(back, wanted):
    return torch.allclose(back.detach().float(), wanted, rtol=1e-4, atol=float(wanted.abs().max()) * 1e-5)


def expect_back(answer, x, channel=None, about=""):
    given = x.clone()  # which an answer may write into: that is a check of its own
    q, scale = answer.quantize(given) if channel is None else answer.quantize(given, channel)
    expect_near(q, scale, answer.dequantize(q, scale), x, channel, about)
    return q, scale


def test_whole_tensor(answer, gen):
    """With one scale, every number comes back off by half of it at most."""
    for shape in ((9,), (6, 5), (2, 3, 4)):
        x = draw(gen, *shape, size=3.0)
        for signed in (x.abs(), -x.abs(), x):
            expect_back(answer, signed)


@pytest.mark.parametrize("channel", [0, 1], ids=["rows", "columns"])
def test_channels(answer, gen, channel):
    """With a scale for each row or column, small ones come back as exactly as large ones."""
    for shape in ((5, 7), (4, 4)):
        expect_back(answer, draw(gen, *shape), channel)


def test_negative_channel(answer, gen):
    """channel=-1 is the last dimension."""
    expect_back(answer, draw(gen, 5, 7), -1)
    expect_back(answer, draw(gen, 4, 3, 5), -2)


def test_filters(answer, gen):
    """The filters of a convolution, four dimensions, get a scale each."""
    _, scale = expect_back(answer, draw(gen, 4, 3, 3, 2), 0)
    suspects = {"the largest of one dim is taken: take it over all dims but channel": lambda: (4, 1, 3, 2)}
    call = "the shape of scale for (4, 3, 3, 2) and channel=0"
    expect_equal(tuple(scale.shape), (4, 1, 1, 1), call, suspects=suspects)


def test_bytes(answer, gen):
    """q takes one byte for each number, in int8; the scale is float32."""
    for channel in (None, 0):
        q, scale = answer.quantize(draw(gen, 3, 4), channel)
        expect_equal((q.dtype, scale.dtype), (torch.int8, torch.float32), "the dtypes of q and scale")


def scaled(gen):
    q = torch.randint(-127, 128, (3, 4), generator=gen).to(torch.int8)
    return {
        "with one scale": given(q, 0.1 * torch.rand((), generator=gen) + 0.01),
        "with a scale for each row": given(q, torch.rand(3, 1, generator=gen) + 0.1),
        "with a scale for each column": given(q, torch.rand(1, 4, generator=gen) + 0.1),
    }


back = Contract(
    "dequantize(q, scale)",
    reference=lambda q, scale: q * scale,
    inputs=scaled,
    suspects={
        "q is divided by the scale: scale is what a step is worth": lambda q, scale: q / scale,
        "the scale is cut to whole numbers": lambda q, scale: q * scale.trunc(),
    },
    fine=[device(name="device")],
)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_dtype_asked_for(answer, gen, dtype):
    """dequantize returns the dtype that it is asked for, multiplied in float32 and rounded once."""
    q = torch.randint(-127, 128, (64,), generator=gen).to(torch.int8)
    for size in (1.0, 1e-8):
        scale = size * (0.5 + torch.rand((), generator=gen))
        exact = q.double() * scale.double()
        call = f"dequantize(q, a scale of {float(scale):.3g}, {dtype})"
        yours = answer.dequantize(q, scale, dtype)
        expect_rounded(yours, exact, dtype, call, roundings=1, slack=exact.abs() * 2.0**-23)


@pytest.mark.fine
def test_scale_and_integers(answer, gen):
    """scale is absmax / 127, with shape () for one; q goes from -127 to 127, and -x gives -q."""
    x = draw(gen, 5, 6)
    x[1, 2] = -2.0
    for channel, shape in ((None, ()), (0, (5, 1)), (1, (1, 6))):
        q, scale = answer.quantize(x.clone(), channel)
        minus, _ = answer.quantize(-x, channel)
        wanted = absmax_of(x, channel).reshape(shape) / 127
        suspects = {
            "divided by 127.5": lambda w=wanted: w * 127 / 127.5,
            "the scale is upside down": lambda w=wanted: 1 / w,
        }
        expect_close(scale.detach(), wanted, f"scale from quantize(x, channel={channel})", suspects=suspects)
        expect_equal(int(q[1, 2]), -127, f"q of the largest, -2.0, from quantize(x, channel={channel})")
        expect_equal(minus, -q, f"q from quantize(-x, channel={channel})")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """float16 and bfloat16 are computed in float32, and their scale is float32."""
    for size in (1.0, 60000.0, 1e-5):
        x = (size * (2 * torch.rand(4, 9, generator=gen) - 1)).to(dtype)
        for channel in (None, 0):
            _, scale = expect_back(answer, x, channel, f", up to {size:g}")
            expect_equal(scale.dtype, torch.float32, f"the dtype of scale from {call_of(x, channel)}")


@pytest.mark.fine
def test_small_numbers(answer, gen):
    """Numbers around 1e-10 come back off by half a scale at most."""
    for channel in (None, 1):
        expect_back(answer, draw(gen, 4, 5, size=1e-10), channel, " of size 1e-10")


@pytest.mark.fine
def test_zeros(answer, gen):
    """A channel of zeros has a scale above 0 and a q of 0; the others are as always."""
    x = draw(gen, 4, 5)
    x[1] = 0.0
    q, scale = answer.quantize(x.clone(), 0)
    expect_that(bool((scale > 0).all()), "the scale of a channel of zeros is not above 0", yours=scale[1])
    expect_equal(q[1], torch.zeros(5, dtype=torch.int8), "q of a channel of zeros")
    rows = [0, 2, 3]
    back = answer.dequantize(q, scale)
    expect_near(q[rows], scale[rows], back[rows], x[rows], 0, ", beside a channel of zeros")
    q, scale = answer.quantize(torch.zeros(3))
    expect_that(float(scale) > 0, "the scale of zeros is not above 0", yours=scale)
    expect_equal(q, torch.zeros(3, dtype=torch.int8), "q of zeros")


@pytest.mark.fine
def test_no_graph(answer, gen):
    """Of a Parameter, neither result carries a graph."""
    for channel in (None, 0):
        q, scale = answer.quantize(nn.Parameter(draw(gen, 3, 4)), channel)
        call = f"requires_grad of q and scale from quantize(a Parameter, channel={channel})"
        expect_equal((q.requires_grad, scale.requires_grad), (False, False), call)


@pytest.mark.fine
def test_strides(answer, gen):
    """Transposed and sliced numbers are treated like any others."""
    x = draw(gen, 4, 6)
    for about, laid in {"transposed": x.t(), "every second column": x[:, ::2]}.items():
        for channel in (None, 0, 1):
            expect_back(answer, laid, channel, f", {about}")


@pytest.mark.fine
def test_stays_on_the_device(answer, gen, device):
    """What lies on another device is quantized there, without a trip through the CPU."""
    for channel in (None, 1):
        x = draw(gen, 3, 4)
        there = x.to(device)
        with count_traffic() as traffic:
            q, scale = answer.quantize(there, channel)
        call = call_of(x, channel, " on another device")
        expect_that(is_simulated(q) and is_simulated(scale), f"results of {call} are elsewhere")
        q, scale = on_host(q), on_host(scale)
        expect_near(q, scale, answer.dequantize(q, scale), x, channel, " on another device")
        # one number may come: an answer may look for inf and NaN before it begins
        expect_that(
            traffic.numbers <= 2 and not traffic.to_device,
            f"{call} copies between host and device",
            yours=f"{traffic.numbers} numbers to the host, {traffic.to_device} copies to the device",
        )


quantize = Contract(
    "quantize(x, channel)",
    inputs=lambda gen: {
        "one scale": draw(gen, 3, 4),
        "rows": given(draw(gen, 3, 4), 0),
        "one row": draw(gen, 5),
    },
    fine=[
        untouched(),
        flat_cost(lambda n: (torch.ones(n, n), 0), over="channels"),
    ],
)


def clear(gen, rows, columns):
    """Rows far from the middle between fiftieths of their largest number, and such a fiftieth of each."""
    x = torch.randint(1, 50, (rows, columns), generator=gen)
    x = x + 0.28 * (2 * torch.rand(rows, columns, generator=gen) - 1)
    x[:, 0] = 50.0
    signs = 2 * torch.randint(0, 2, (rows, columns), generator=gen) - 1
    size = torch.rand(rows, 1, generator=gen) + 0.1
    return signs * x * size, size


def oracle(answer, gen):
    def fiftieths(x, size, channel=None):
        """What comes back, in whole fiftieths: 127 and 127.5 steps give the same."""
        return lambda: (answer.dequantize(*answer.quantize(x, channel)).detach() / size).round()

    columns = [part.t().contiguous() for part in clear(gen, 6, 4)]
    return {
        "one scale": fiftieths(*clear(gen, 1, 20)),
        "a scale for each row": fiftieths(*clear(gen, 5, 6), 0),
        "a scale for each column": fiftieths(*columns, -1),
        **{
            f"dequantize {about}": lambda call=call: answer.dequantize(*call.args)
            for about, call in scaled(gen).items()
        },
    }
