"""What grades quantize and dequantize: error bounds in every dtype, ties, channels, zeros, the device."""

import math

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_copy,
    expect_equal,
    expect_flat_cost,
    expect_raises,
    expect_that,
    modes_kept,
    unchanged,
)

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
CASES = [
    ((), None),
    ((7,), None),
    ((7,), 0),
    ((5,), -1),
    ((3, 4), None),
    ((3, 4), 0),
    ((3, 4), -1),
    ((2, 5, 3), 1),
]
CASES += [((2, 5, 3), -3), ((2, 3, 1, 4), 3), ((2, 3, 1, 4), 2), ((1, 6), 0), ((6, 1), 0)]


def others_of(shape, channel):
    return [dim for dim in range(len(shape)) if channel is None or dim != channel % len(shape)]


def scale_shape(shape, channel):
    """The shape that scale should have."""
    if channel is None:
        return ()
    return tuple(1 if dim in others_of(shape, channel) else size for dim, size in enumerate(shape))


def exact_scale(x, channel):
    """absmax / 127 in float64."""
    absmax = x.detach().cpu().double().abs()
    for dim in others_of(x.shape, channel):
        absmax = absmax.amax(dim, keepdim=True)
    return absmax.reshape(scale_shape(x.shape, channel)) / 127


def call_of(x, channel):
    return f"quantize(x, channel={channel}) of {x.dtype} in shape {tuple(x.shape)}"


def draw(gen, shape, dtype, size=1.0):
    return (size * (2 * torch.rand(shape, generator=gen, dtype=torch.float64) - 1)).to(dtype)


def without_ties(gen, shape):
    """Steps from -127 to 127: no quotient lies near a half, so that right answers give the same q."""
    steps = torch.randint(-60, 61, shape, generator=gen) + 0.25 * (torch.rand(shape, generator=gen) - 0.5)
    steps[torch.rand(shape, generator=gen) < 0.3] = 127.0
    for dim in range(len(shape)):
        steps.select(dim, 0)[...] = 127.0
    return steps


def expect_quantized(answer, x, channel, where="", q=None, scale=None):
    """Fail unless scale is right up to rounding in float32, and every number within half of it."""
    call, wanted = call_of(x, channel) + where, exact_scale(x, channel)
    exact = x.detach().cpu().double()
    if q is None:
        q, scale = answer.quantize(x) if channel is None else answer.quantize(x, channel)
    facts = (torch.int8, tuple(x.shape))
    expect_equal((q.dtype, tuple(q.shape)), facts, f"(dtype, shape) of q from {call}")
    facts = (torch.float32, tuple(wanted.shape))
    expect_equal((scale.dtype, tuple(scale.shape)), facts, f"(dtype, shape) of scale from {call}")
    expect_equal((q.device.type, scale.device.type), (x.device.type,) * 2, f"devices from {call}")
    step = scale.detach().cpu().double()
    steps = q.cpu().double()
    # one division in float32, or a product with a rounded 1 / 127
    off = ((step - wanted).abs() / wanted).max().item()
    expect_that(off <= 2.0**-22, f"wrong scale from {call}", yours=f"off by {off:.3g} of its size")
    # x / scale is 127 at most, and rounded in float32 once or twice before it becomes a whole number
    allowed = step * (0.5 + 127 * 2.0**-22)
    error = (steps * step - exact).abs()
    expect_that(
        bool((error <= allowed).all()),
        f"numbers from {call} are off by more than half of their scale",
        yours=f"up to {(error / step).max().item():.4g} scales",
        wanted="0.5 scales at most",
    )
    expect_that(int(steps.min()) >= -127, f"q from {call} holds -128", wanted="-127 to 127")
    return q, scale


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_error_bound(answer, gen, dtype):
    """Every number comes back within half of its scale, with one scale and with channels."""
    for shape, channel in CASES:
        for size in (1.0, 300.0):
            expect_quantized(answer, draw(gen, shape, dtype, size), channel)
    expect_quantized(answer, draw(gen, (1100, 3), dtype), 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_largest_numbers(answer, gen, dtype):
    """Nothing overflows near the largest number of the dtype."""
    largest = torch.finfo(dtype).max
    for shape, channel in ((7,), None), ((3, 4), 0):
        x = draw(gen, shape, dtype, 0.99 * largest)
        x.view(-1)[0], x.view(-1)[-1] = largest, -largest
        expect_quantized(answer, x, channel, " near its largest number")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_small_numbers(answer, gen, dtype):
    """Nothing vanishes near the smallest numbers: 1e-6 in float16, 1e-35 in the others."""
    sizes = (1e-4, 1e-6, 2e-7) if dtype == torch.float16 else (1e-10, 1e-30, 1e-35)
    for size in sizes:
        for shape, channel in ((9,), None), ((3, 4), 0), ((3, 4), 1):
            x = draw(gen, shape, dtype, size)
            # every channel has numbers of this size: in float16 the smaller ones are its subnormals
            x[..., 0] = x[0] = torch.tensor(size, dtype=dtype)
            expect_quantized(answer, x, channel, f" of size {size}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_halves_to_even(answer, dtype):
    """Halves are rounded to the even neighbour, as torch.round does."""
    numbers = [127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 63.5, 64.5, 126.5, -125.5, -126.5, 0.0]
    wanted = [127, 0, 2, 2, 0, -2, -2, 64, 64, 126, -126, -126, 0]
    for power in (1.0, 0.125, 32.0):
        x = power * torch.tensor(numbers, dtype=dtype)
        for sign in (1, -1):
            q, scale = answer.quantize(sign * x)
            where = f"quantize(x), where x / scale holds halves, in {dtype}"
            expect_equal(scale, torch.tensor(power), f"the scale from {where}")
            expect_equal(q, torch.tensor([sign * w for w in wanted], dtype=torch.int8), f"q from {where}")


def test_symmetric(answer, gen):
    """-x becomes -q, and the number of the largest absolute value 127 or -127, never -128."""
    for dtype in DTYPES:
        for _ in range(5):
            x = draw(gen, (40,), dtype, 10.0)
            for largest in (11.0, -11.3, -12.9):
                x[7] = largest
                q, scale = answer.quantize(x)
                minus, same = answer.quantize(-x)
                expect_equal(int(q[7]), 127 if largest > 0 else -127, "q of the largest absolute value")
                expect_equal(minus, -q, "q from quantize(-x)")
                expect_equal(same, scale, "the scale from quantize(-x)")


def test_channels_have_their_own(answer, gen):
    """A channel of large numbers costs the others nothing: each is quantised as if it were alone."""
    for dtype in DTYPES:
        for channel in (0, 1, 2, -1, -2, -3):
            x = without_ties(gen, (4, 3, 5))
            sizes = torch.tensor([1.0, 2.0**-10, 2.0**8, 2.0**-3, 2.0**4])[: x.shape[channel]]
            shape = [1, 1, 1]
            shape[channel] = -1
            mixed = (x * sizes.view(shape)).to(dtype)
            q, scale = expect_quantized(answer, mixed, channel)
            for index in range(x.shape[channel]):
                one, alone = answer.quantize(mixed.select(channel, index))
                which = (
                    f"of channel {index} from {call_of(mixed, channel)}, against that of this channel alone"
                )
                expect_equal(q.select(channel, index), one, f"q {which}")
                expect_close(scale.select(channel, index).flatten()[0], alone, f"scale {which}", ulps=2)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_zero_channels(answer, gen, dtype):
    """A channel of zeros has a scale of 1 and a q of 0, and leaves the others as they are."""
    x = draw(gen, (4, 5), dtype)
    x[1], x[:, 2] = 0.0, 0.0
    for channel in (0, 1):
        q, scale = answer.quantize(x, channel)
        index = 1 if channel == 0 else 2
        call = call_of(x, channel) + f", where channel {index} is zero"
        expect_equal(scale.select(channel, index), torch.ones(1), f"the scale of zeros from {call}")
        expect_equal(int(q.select(channel, index).abs().max()), 0, f"the largest q of zeros from {call}")
        keep = [i for i in range(x.shape[channel]) if i != index]
        rest = (x.index_select(channel, torch.tensor(keep)), channel)
        picked = (t.index_select(channel, torch.tensor(keep)) for t in (q, scale))
        expect_quantized(answer, *rest, ", beside a channel of zeros", *picked)
    for shape in ((), (3,), (2, 3)):
        q, scale = answer.quantize(torch.zeros(shape, dtype=dtype))
        expect_equal(scale, torch.tensor(1.0), f"the scale of zeros in shape {shape}")
        expect_equal(q, torch.zeros(shape, dtype=torch.int8), f"q of zeros in shape {shape}")
    q, scale = answer.quantize(torch.tensor([0.0, 2.0, -0.0], dtype=dtype), channel=0)
    expect_equal(
        scale[[0, 2]], torch.ones(2), "the scales of zeros from quantize(x, channel=0) in one dimension"
    )
    expect_equal(
        q, torch.tensor([0, 127, 0], dtype=torch.int8), "q from quantize(x, channel=0) in one dimension"
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_as_good_as_zero(answer, dtype):
    """Numbers so small that the scale would be subnormal or 0 count as zeros; next to them others do not."""
    for size in (190 * 2.0**-127, 1e-37, 1e-39, 1e-40, 2.0**-133):
        x = torch.tensor([[size, -size / 2, 0.0], [1.0, -2.0, 0.25]], dtype=dtype)
        q, scale = answer.quantize(x[0])
        expect_equal(scale, torch.tensor(1.0), f"the scale from quantize(x) with numbers of {size:.3g}")
        expect_equal(q, torch.zeros(3, dtype=torch.int8), f"q from quantize(x) with numbers of {size:.3g}")
        q, scale = answer.quantize(x, channel=0)
        expect_equal(scale[0], torch.ones(1), f"the scale of a channel with numbers of {size:.3g}")
        wanted = torch.tensor([[0, 0, 0], [64, -127, 16]], dtype=torch.int8)
        expect_equal(q, wanted, f"q from quantize(x, channel=0) with numbers of {size:.3g}")
    expect_quantized(answer, torch.tensor([2e-36, -1e-36, 0.0], dtype=dtype), None, ", just large enough")
    if dtype == torch.float32:
        q, scale = answer.quantize(torch.tensor([127.0, -64.0]) * 2.0**-126)
        expect_equal(
            scale,
            torch.tensor(2.0**-126),
            "the scale, just the smallest normal number, from quantize([127, -64] · 2⁻¹²⁶)",
        )
        expect_equal(q, torch.tensor([127, -64], dtype=torch.int8), "q from quantize([127, -64] · 2⁻¹²⁶)")


def test_no_numbers(answer):
    """Without any number scale is 1, for each channel that there is; shapes are as always."""
    for shape, channel in (
        ((0,), None),
        ((0,), 0),
        ((3, 0), 0),
        ((3, 0), 1),
        ((0, 4), -1),
        ((2, 0, 3), -1),
        ((2, 0, 3), None),
        ((2, 0, 3), 1),
    ):
        for dtype in DTYPES:
            x = torch.zeros(shape, dtype=dtype)
            q, scale = answer.quantize(x, channel)
            expect_equal(q, torch.zeros(shape, dtype=torch.int8), f"q from {call_of(x, channel)}")
            wanted = torch.ones(scale_shape(shape, channel))
            expect_equal(scale, wanted, f"scale from {call_of(x, channel)}")
            back = answer.dequantize(q, scale, dtype)
            expect_equal(back, x, f"dequantize of what came from {call_of(x, channel)}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dequantize(answer, gen, dtype):
    """dequantize is q · scale rounded once to dtype, with scales that dtype itself cannot hold."""
    info = torch.finfo(dtype)
    q = torch.randint(-127, 128, (3, 4), generator=gen).to(torch.int8)
    large = min(info.max / 127, 1e36)
    scales = [torch.tensor(s) for s in (0.0123, 1.0, 1e-8, 3.1e-9, 0.99 * large)]
    scales += [torch.tensor([[0.3], [1e-8], [500.0]]), torch.tensor([[1e-3, 1.0 / 3.0, 7.7, 400.1]])]
    for scale in scales:
        exact = q.double() * scale.double()
        with unchanged("dequantize(q, scale, dtype)", q=q, scale=scale):
            back = answer.dequantize(q, scale, dtype)
        call = f"dequantize(q, a scale of shape {tuple(scale.shape)}, {dtype})"
        expect_equal((back.dtype, tuple(back.shape)), (dtype, (3, 4)), f"(dtype, shape) from {call}")
        # half a unit of dtype, and half a unit of float32 before that; below, half the subnormals' spacing
        allowed = (0.5 * info.eps + 2.0**-23) * exact.abs() + 0.5 * info.smallest_normal * info.eps
        error = (back.double() - exact).abs()
        expect_that(
            bool((error <= allowed).all()),
            f"numbers from {call} are off by more than one rounding",
            yours=f"{int((error > allowed).sum())} of 12, by up to {error.max().item():.3g}",
            wanted=f"by {allowed.max().item():.3g} at most",
        )
    expect_equal(answer.dequantize(q, scales[0]).dtype, torch.float32, "the dtype of dequantize(q, scale)")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_there_and_back(answer, gen, dtype):
    """What comes back in the dtype of x is off by half a scale and one rounding, against float64."""
    info = torch.finfo(dtype)
    for shape, channel in CASES:
        for size in (1.0, 0.9 * min(info.max, 1e37), 1e-5):
            x = draw(gen, shape, dtype, size)
            back = answer.dequantize(*answer.quantize(x, channel=channel), dtype=dtype)
            expect_that(
                tuple(back.shape) == shape,
                f"wrong shape of what comes back from {call_of(x, channel)}",
                yours=str(tuple(back.shape)),
                wanted=str(shape),
            )
            exact, scale = x.double(), exact_scale(x, channel)
            allowed = scale * (0.5 + 127 * 2.0**-21) + 0.5 * info.eps * (exact.abs() + scale)
            allowed = allowed + info.smallest_normal * info.eps
            error = (back.double() - exact).abs()
            expect_that(
                bool((error <= allowed).all()),
                f"what comes back from {call_of(x, channel)} is off by more than half a scale",
                yours=f"{(error / scale).max().item():.4g} scales",
            )


def test_strides_and_memory(answer, gen):
    """Transposed, expanded and sliced x are as good, x stays as it is, and scale has memory of its own."""
    base = draw(gen, (4, 6), torch.float32)
    cube = draw(gen, (2, 3, 4), torch.float32).permute(2, 0, 1)
    for x in (cube, base.t(), base[:, ::2], base[1].expand(3, 6), base[:, 2:3].expand(4, 5), base.flip(0)):
        for channel in (None, 0, 1):
            with unchanged(call_of(x, channel), x=x):
                _, scale = expect_quantized(answer, x, channel, " with other strides")
            expect_copy(scale, base, f"the scale from {call_of(x, channel)}")
    row = torch.tensor([1.0, -127.0, 3.0])
    call = "quantize(row, channel=0) under no_grad, and writing to its scale,"
    with torch.no_grad(), unchanged(call, row=row):
        _, scale = answer.quantize(row, channel=0)
        scale.zero_()


def test_no_graph(answer, gen):
    """Where x requires gradients, neither result carries a graph, and x stays as it is."""
    for dtype in DTYPES:
        x = draw(gen, (3, 4), dtype).requires_grad_()
        for channel in (None, 1):
            with unchanged(call_of(x, channel), x=x):
                q, scale = answer.quantize(x, channel)
            flags = (q.requires_grad, scale.requires_grad)
            expect_equal(flags, (False, False), f"requires_grad of q and scale from {call_of(x, channel)}")
    expect_equal(torch.is_grad_enabled(), True, "torch.is_grad_enabled() after quantize(x)")


def test_cost(answer, gen):
    """The number of operations does not grow with the number of channels."""
    for channel in (0, 1):

        def make(n, channel=channel):
            x = draw(gen, (n, 3) if channel == 0 else (3, n), torch.float32)
            return lambda: answer.dequantize(*answer.quantize(x, channel))

        expect_flat_cost(make, f"quantize(x, channel={channel})", over="channels")


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_not_finite(answer, gen, bad):
    """A single inf or NaN raises ValueError, wherever it is."""
    for dtype in DTYPES:
        for channel in (None, 0, 1):
            x = draw(gen, (3, 4), dtype)
            x[1, 2] = bad
            call = f"{call_of(x, channel)}, with {bad} in it"
            with modes_kept(call):
                expect_raises(ValueError, lambda x=x, c=channel: answer.quantize(x, c), call)


def test_bad_arguments(answer):
    """Integers and booleans raise TypeError, a channel that is not there IndexError."""
    for dtype in (torch.int64, torch.int8, torch.uint8, torch.bool):
        for channel in (None, 0):
            for x in (torch.ones(2, 3, dtype=dtype), torch.ones(0, 3, dtype=dtype)):
                expect_raises(
                    TypeError, lambda x=x, channel=channel: answer.quantize(x, channel), call_of(x, channel)
                )
    for shape, channel in (((2, 3), 2), ((2, 3), -3), ((4,), 1), ((4,), -2), ((0, 3), 5), ((), 0), ((), -1)):
        x = torch.ones(shape)
        expect_raises(
            IndexError, lambda x=x, channel=channel: answer.quantize(x, channel), call_of(x, channel)
        )


def check_there(answer, gen, where):
    """There and back in every dtype, on the device `where`."""
    for dtype in DTYPES:
        for size in (1.0, 1e-6, 6e4):
            for channel in (None, 0, 1):
                x = draw(gen, (3, 4), dtype, size)
                x[0, :] = x[:, 0] = size if dtype != torch.float16 else float(torch.tensor(size).half())
                there = x.to(where)
                q, scale = expect_quantized(answer, there, channel, " on another device")
                back = answer.dequantize(q, scale, dtype)
                kind = torch.device(where).type
                expect_equal(
                    (back.device.type, back.dtype), (kind, dtype), "(device, dtype) of dequantize(…)"
                )
    for shape, channel in (((0,), None), ((3, 0), 0), ((3, 0), 1)):
        x = torch.zeros(shape).to(where)
        kinds = tuple(t.device.type for t in answer.quantize(x, channel))
        expect_equal(kinds, (x.device.type,) * 2, f"devices from {call_of(x, channel)} on another device")
    x = torch.tensor([[127.0, 0.5, 1.5, 2.5], [0.0, 0.0, 0.0, 0.0]]).to(where)
    q, scale = answer.quantize(x, 0)
    wanted = torch.tensor([[127, 0, 2, 2], [0, 0, 0, 0]], dtype=torch.int8)
    expect_equal(q.cpu(), wanted, "q of halves, and of zeros, on another device")
    expect_equal(scale.cpu(), torch.ones(2, 1), "scale of halves, and of zeros, on another device")


def test_on_a_device(answer, gen, device):
    """On another device the results are there, and the same."""
    check_there(answer, gen, device)


@pytest.mark.gpu
def test_on_a_gpu(answer, gen):
    """On a GPU the results are there, and the same."""
    check_there(answer, gen, "cuda")


def oracle(answer, gen):
    results = []
    for dtype in DTYPES:
        for channel in (None, 0, 1):
            x = without_ties(gen, (4, 5))
            x = (x * 2.0 ** float(torch.randint(-8, 8, (), generator=gen))).to(dtype)
            q, scale = answer.quantize(x, channel)
            results += [q, scale, answer.dequantize(q, scale, dtype)]
    return results
