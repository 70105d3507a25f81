"""What grades device_agnostic: devices, dtypes, precision."""

import pytest
import torch

from grader.checks import expect_close, expect_copy, expect_equal, expect_gradients, expect_that, unchanged
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated, on_host

EPS = torch.finfo(torch.float64).eps


def exact_table(positions, dim):
    position = positions.double()[:, None]
    column = torch.arange(dim)
    angle = position / 10000.0 ** ((column - column % 2).double() / dim)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def plain(x):
    return x.double() + exact_table(torch.arange(x.shape[-2]), x.shape[-1])


def expect_positions(answer, x, note=""):
    wanted = plain(x).to(x.dtype)
    # In float64 the rates themselves are rounded, which position after position multiplies.
    ulps = 16.0 * (1 + x.shape[-2]) if x.dtype == torch.float64 else None
    expect_close(answer.add_positions(x), wanted, f"add_positions(x){note}", ulps=ulps, scale=2.0)


def test_any_sizes(answer, gen):
    """Every position of every sequence gets its own row, for any leading dimensions."""
    for sizes in [(5, 6), (2, 3, 4, 20), (3, 1, 4), (1, 7, 2), (0, 3, 4), (2, 0, 4)]:
        x = torch.randn(sizes, generator=gen)
        x.view(-1)[:1] = torch.inf
        expect_positions(answer, x, f" of shape {sizes}, whose first number is inf")


def test_dtype_is_kept(answer, gen):
    """Sequences keep their dtype, and float64 its precision."""
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        x = torch.randn(2, 40, 6, generator=gen, dtype=torch.float64).to(dtype)
        expect_positions(answer, x, f" in {dtype}")


# A look at all of them takes ten times as long.
ROWS = torch.cat([torch.arange(0, 5080, 19), torch.arange(2046, 2051), torch.arange(5080, 5100)])
LATE = exact_table(ROWS, 6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_late_positions(answer, dtype):
    """The table is right to the last digits at position 5000 too."""
    yours = answer.add_positions(torch.zeros(5100, 6, dtype=dtype))
    call = f"add_positions(x) with 5100 positions in {dtype}"
    expect_equal(getattr(yours, "shape", None), torch.Size((5100, 6)), f"the shape of {call}")
    wanted = LATE.to(dtype)
    told = f"every 19th row, and more near 2048 and the end, of {call}"
    # Where x is 0 the table is rounded once, which tells it from a sine of rounded angles.
    expect_close(yours[ROWS], wanted, told, ulps=1.01, scale=0.01)


def test_made_on_the_device(answer, device, gen):
    """Sequences on another device get their positions there, without a copy from or to the CPU."""
    for dtype in (torch.float32, torch.float16):
        x = torch.randn(2, 5, 6, generator=gen).to(dtype)
        wanted = plain(x).to(dtype)
        answer.add_positions(x)  # a table kept from here is on the CPU
        there = x.to(device)
        with count_traffic() as traffic:
            yours = answer.add_positions(there)
        expect_that(is_simulated(yours), "add_positions(x) is on another device than x", yours=yours)
        expect_close(on_host(yours), wanted, "add_positions(x) on a device", scale=2.0)
        expect_no_traffic(traffic, "add_positions(x)")


def test_sequences_of_all_kinds_in_turn(answer, gen):
    """A call does not depend on the calls before it: other lengths, widths and dtypes."""
    for sizes, dtype in [
        ((2, 9, 4), torch.float16),
        ((2, 9, 4), torch.float64),
        ((2, 12, 4), torch.float32),
        ((2, 9, 8), torch.float32),
    ]:
        x = torch.randn(sizes, generator=gen, dtype=torch.float64).to(dtype)
        expect_positions(answer, x, f" in {dtype} after other calls")


def test_default_dtype_does_not_matter(answer, gen):
    """PyTorch's default dtype has no say in the result."""
    x = torch.randn(2, 40, 6, generator=gen)
    wanted = plain(x).float()
    with default_dtype(torch.float64):
        yours, after = answer.add_positions(x), torch.get_default_dtype()
    expect_close(yours, wanted, "add_positions(x) while the default dtype is float64", scale=2.0)
    expect_equal(after, torch.float64, "the default dtype, which was float64, after add_positions(x)")


def test_x_is_left_alone(answer, gen):
    """x keeps its values, and the sums are a new tensor."""
    for sizes, dtype in [((2, 5, 4), torch.float32), ((5, 4), torch.float64), ((2, 0, 4), torch.float32)]:
        x = torch.randn(sizes, generator=gen, dtype=dtype)
        with torch.no_grad(), unchanged("add_positions(x) under no_grad", x=x):
            answer.add_positions(x)
        with unchanged("add_positions(x)", x=x):
            y = answer.add_positions(x)
        expect_that(y is not x, f"add_positions(x) of shape {sizes} returns x itself", wanted="a new tensor")
        expect_copy(y, x, "add_positions(x)")


def test_strided_sequences(answer, gen):
    """Transposed, expanded and sliced sequences are read like any others."""
    x = torch.randn(4, 3, 6, 8, generator=gen)
    for strided in (x.transpose(0, 1), x[0].mT, x[:1].expand(2, 3, 6, 8), x[1:, 0, ::2, 2:6]):
        expect_positions(answer, strided, f" of strides {strided.stride()}")


def test_angle_dtype_is_asked(answer, device, monkeypatch):
    """add_positions asks angle_dtype what to compute in: float64 itself is not to be had on mps."""
    asked = []
    monkeypatch.setattr(answer, "angle_dtype", lambda device: asked.append(device) or torch.float32)
    monkeypatch.setattr(answer, "pick_device", lambda: torch.device("meta"))  # x lies where it lies
    x = torch.zeros(61, 14, dtype=torch.float64).to(device)
    yours = on_host(answer.add_positions(x))
    expect_that(bool(asked), "add_positions(x) does not ask angle_dtype for the dtype to compute in")
    expect_equal(asked[0], x.device, "the device that add_positions(x) asks angle_dtype about")
    for dtype in (torch.bfloat16, torch.float32):
        asked.clear()
        answer.add_positions(torch.zeros(3, 4, dtype=dtype))
        call = f"add_positions(x) of {dtype} on the CPU, after another call,"
        expect_equal(asked[:1], [torch.device("cpu")], f"what {call} asks angle_dtype about")
    off = (yours - exact_table(torch.arange(61), 14)).abs().max().item()
    expect_that(
        1e-10 < off < 1e-3,
        "add_positions(x) does not compute in the dtype that angle_dtype(x.device) returns",
        yours=f"off by {off:.1g} where angle_dtype returns float32",
        wanted="an error as float32 makes it",
    )


def test_gradient(answer, gen):
    """Gradients flow through to x."""
    for dtype in (torch.float32, torch.bfloat16):
        x, call = torch.randn(2, 5, 4, generator=gen).to(dtype), f"add_positions(x) in {dtype}"
        expect_gradients(answer.add_positions, [x], plain, gen=gen, call=call, names="x")


def test_order_of_devices(answer, monkeypatch):
    """CUDA comes before an Apple GPU, which comes before the CPU, asked anew at each call."""
    for cuda, mps, wanted in [
        (False, False, "cpu"),
        (True, True, "cuda"),
        (False, True, "mps"),
        (True, False, "cuda"),
        (False, False, "cpu"),
    ]:
        monkeypatch.setattr(torch.cuda, "is_available", lambda cuda=cuda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda mps=mps: mps)
        picked = answer.pick_device()
        call = f"pick_device() where cuda.is_available() is {cuda} and mps.is_available() is {mps}"
        expect_that(isinstance(picked, torch.device), "pick_device() returns no torch.device", yours=picked)
        expect_equal(picked.type, wanted, call)


def test_widest_dtype(answer, device):
    """float64 is right everywhere but on mps, with or without an index."""
    for name, wanted in [
        ("cpu", torch.float64),
        ("cuda:1", torch.float64),
        ("mps", torch.float32),
        ("meta", torch.float64),
    ]:
        expect_equal(answer.angle_dtype(torch.device(name)), wanted, f'angle_dtype(torch.device("{name}"))')
    expect_equal(
        answer.angle_dtype(torch.device("mps", 0)), torch.float32, 'angle_dtype(torch.device("mps:0"))'
    )
    expect_equal(answer.angle_dtype(device), torch.float64, f'angle_dtype(torch.device("{device}"))')


def oracle(answer, gen):
    x = torch.randn(2, 50, 6, generator=gen, requires_grad=True)
    y = answer.add_positions(x)
    y.backward(torch.randn(y.shape, generator=gen))
    half = answer.add_positions(torch.randn(7, 4, generator=gen).half())
    late = answer.add_positions(torch.zeros(1, 3000, 4))[0, ::100]
    dtypes = [str(answer.angle_dtype(torch.device(name))) for name in ("cpu", "cuda", "mps")]
    return [y.detach(), x.grad, half, late, dtypes]
