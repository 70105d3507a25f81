"""What grades stable_softmax: dims, large logits, -inf, dtypes, gradients, devices."""

import math

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_copy,
    expect_equal,
    expect_gradients,
    expect_that,
    forbid,
    unchanged,
)
from grader.checks.devices import count_traffic, expect_no_traffic, on_host

BOTH = ["softmax", "logsumexp"]
OWN = (
    "softmax", "log_softmax", "safe_softmax", "softmin", "logsumexp", "special_logsumexp", "logaddexp",
    "logaddexp2", "logcumsumexp", "cross_entropy", "gumbel_softmax", "scaled_dot_product_attention",
)  # fmt: skip


def exact(name, x, dim):
    """The right result in float64: PyTorch's own, and 0 where it has no softmax to give."""
    x = x.double()
    if name == "logsumexp":
        return torch.logsumexp(x, dim)
    hopeless = (x == -math.inf).all(dim, keepdim=True)
    return torch.softmax(x.masked_fill(hopeless, 0.0), dim).masked_fill(hopeless, 0.0)


def mistakes(name, x, dim):
    """What people compute instead, for `suspects`."""

    def shifted(x, peak, empty=0.0):
        powers = (x - peak).exp()
        total = powers.sum(dim, keepdim=True)
        total = total.masked_fill(total == 0, empty)
        return powers / total if name == "softmax" else (total.log() + peak).squeeze(dim)

    low, x = torch.finfo(x.dtype).min, x.double()
    far = "the shift is not the largest logit of each slice"
    return {
        "-inf - -inf, or 0 / 0, is NaN in a slice of -inf alone": lambda: shifted(
            x, x.amax(dim, keepdim=True)
        ),
        "a finite number stands for -inf, and counts where all logits are -inf": lambda: exact(
            name, x.clamp(min=low), dim
        ),
        f"0 / 0 in slices far below: {far}": lambda: shifted(x, x.amax()),
        f"slices far below vanish: {far}": lambda: shifted(x, x.amax(), 1.0),
    }


def expect_right(answer, name, x, dim, note="", **options):
    wanted, suspects = exact(name, x, dim).to(x.dtype), mistakes(name, x.clone(), dim)
    yours = getattr(answer, name)(x, dim)
    expect_close(yours, wanted, f"{name}(x, {dim}){note}", suspects=suspects, **options)


@pytest.mark.parametrize("name", BOTH)
def test_along_every_dim(answer, gen, name):
    """Every dim is the right one to sum over, counted from the front or from the back."""
    for sizes, dims in [
        ((7,), (0, -1)),
        ((2, 3, 4), (0, 2, -2, -3)),
        ((3, 3, 3), (1, -1)),
        ((2, 1, 3, 1, 2), (2, -5)),
        ((1, 1), (0,)),
    ]:
        x = 3 * torch.randn(sizes, generator=gen)
        for dim in dims:
            expect_right(answer, name, x, dim, f" of shape {tuple(sizes)}")


@pytest.mark.parametrize("name", BOTH)
def test_empty_batch(answer, name):
    """An empty batch gives an empty result."""
    expect_right(answer, name, torch.zeros(0, 3), 1, " of no rows")
    expect_right(answer, name, torch.zeros(2, 3, 0, dtype=torch.float64), -2, " of shape (2, 3, 0)")


@pytest.mark.parametrize("name", BOTH)
def test_large_logits(answer, gen, name):
    """Logits of any size and sign give what they give near 0, as exactly as their numbers allow."""
    for peak, classes in [(1e4, 70), (-1e4, 5), (120.0, 5), (-120.0, 5), (3e6, 5), (-3e6, 5)]:
        x = peak + 2 * torch.randn(3, classes, generator=gen)
        expect_right(answer, name, x, 1, f" of {classes} classes near {peak:g}")


@pytest.mark.parametrize("name", BOTH)
def test_each_slice_has_its_own_height(answer, gen, name):
    """Slices at 1e4, 0 and -1e4 in one batch do not disturb each other."""
    heights = torch.tensor([1e4, 0.0, -1e4])
    x = heights[:, None] + torch.randn(3, 5, generator=gen)
    expect_right(answer, name, x, 1, " of rows at 1e4, 0 and -1e4")
    expect_right(answer, name, x.T, 0, " of columns at 1e4, 0 and -1e4")


@pytest.mark.parametrize("name", BOTH)
def test_masked_logits(answer, gen, name):
    """-inf counts for nothing; a slice of -inf alone has softmax 0 and logsumexp -inf."""
    for dtype, height in [
        (torch.float32, 1e4),
        (torch.float32, -1e38),  # below each number that -inf might be replaced by
        (torch.float64, -1e4),
        (torch.bfloat16, 1e3),
        (torch.half, 1e3),
        (torch.half, -6e4),
    ]:
        x = torch.randn(4, 5, generator=gen, dtype=torch.float64).to(dtype)
        x[0, 1:3] = x[2] = x[3, 0] = -math.inf
        x[3] += height
        expect_right(answer, name, x, 1, f" with -inf in {dtype}, its last row near {height:g}")
    expect_right(answer, name, x.T.contiguous(), 0, f" with -inf in {dtype}")
    single = torch.full((3,), -math.inf)
    expect_right(answer, name, single, 0, " of a single slice of -inf")
    ones = torch.tensor([[-math.inf], [1e4], [0.5]])
    expect_right(answer, name, ones, 1, " of slices of one logit")


@pytest.mark.parametrize("name", BOTH)
def test_half_precision_rounds_once(answer, gen, name):
    """Half-precision logits are computed in float32, and rounded once at the end."""
    # Far apart, the shift rounds; close together, so does the sum of logarithm and peak.
    for dtype, spread, classes in [
        (torch.float16, 4.0, 12),
        (torch.float16, 0.1, 9),
        (torch.bfloat16, 4.0, 12),
        (torch.bfloat16, 0.1, 9),
    ]:
        # Not against a rounded result: near a tie, that is a whole step off for a right answer.
        half_a_step = 0.6 * torch.finfo(dtype).eps / torch.finfo(torch.float64).eps
        x = (spread * torch.randn(64, classes, generator=gen)).to(dtype)
        wanted = exact(name, x, 1)
        yours = getattr(answer, name)(x, 1)
        expect_equal(getattr(yours, "dtype", None), dtype, f"the dtype of {name}(x, 1) in {dtype}")
        expect_close(yours.double(), wanted, f"{name}(x, 1) in {dtype}", ulps=half_a_step, scale=0.001)


MANY = torch.full((1, 66000), 200.0, dtype=torch.float16)


@pytest.mark.parametrize("name", BOTH)
def test_sum_beyond_float16(answer, name):
    """More logits than float16 can count are summed up in float32 too."""
    yours = getattr(answer, name)(MANY, 1)
    call = f"{name}(x, 1) of 66000 equal logits in torch.float16"
    shape = (1, 66000) if name == "softmax" else (1,)
    expect_equal(getattr(yours, "shape", None), torch.Size(shape), f"the shape of {call}")
    value = 1 / 66000 if name == "softmax" else 200 + math.log(66000)
    few = yours.flatten()[::6599]  # with the last; they are all equal
    expect_close(few, torch.full(few.shape, value).half(), f"every 6599th number of {call}")


@pytest.mark.parametrize("name", BOTH)
def test_float64_stays_exact(answer, gen, name):
    """float64 logits are computed in float64."""
    x = 3 * torch.randn(3, 5, generator=gen, dtype=torch.float64)
    expect_right(answer, name, x, 1, " in float64")


@pytest.mark.parametrize("name", BOTH)
def test_gradients(answer, gen, name):
    """Gradients are right, at large logits and next to -inf too."""
    function = getattr(answer, name)
    for dim, height, dtype in [(0, 0.0, torch.float64), (-2, 1e4, torch.float32)]:
        x = height + torch.randn(2, 3, 4, generator=gen, dtype=dtype)
        x[0, 0, 1] = -math.inf
        expect_gradients(
            lambda x, dim=dim: function(x, dim),
            [x],
            lambda x, dim=dim: exact(name, x, dim),
            gen=gen,
            call=f"{name}(x, {dim}) near {height:g}",
            names="x",
            scale=4.0,
        )
    expect_gradients(
        lambda x: function(x, 1),
        [torch.randn(3, 4, generator=gen).bfloat16()],
        lambda x: exact(name, x, 1),
        gen=gen,
        call=f"{name}(x, 1) in torch.bfloat16",
        names="x",
        scale=2.0,
    )
    single = torch.randn(3, 1, generator=gen, requires_grad=True)
    yours = function(single, 1)
    expect_that(yours.requires_grad, f"{name}(x, 1) of slices of one logit carries no graph", yours=yours)


@pytest.mark.parametrize("name", BOTH)
def test_gradient_of_a_masked_slice(answer, name):
    """The gradient of a slice of -inf alone is 0, not NaN."""
    inf = math.inf
    for others, dtype in [
        ([[0.0, 1.0], [-1e4, -inf]], torch.float32),
        ([[-1e4, -inf]], torch.float16),
        ([[-inf, -inf]], torch.float64),
    ]:
        x = torch.tensor([*others, [-inf, -inf]], dtype=dtype, requires_grad=True)
        out = getattr(answer, name)(x, 1)
        out[-1].sum().backward()
        call = f"the gradient for x through {name}(x, 1), last row of -inf"
        expect_close(x.grad, torch.zeros(len(x), 2, dtype=dtype), call)


@pytest.mark.parametrize("name", BOTH)
def test_logits_are_left_alone(answer, gen, name):
    """x keeps its values, and the result does not share its memory."""
    for sizes, dtype in [((3, 4), torch.float32), ((3, 1), torch.float32), ((3, 4, 2), torch.float64)]:
        x = torch.randn(sizes, generator=gen, dtype=dtype)
        x[1] = -math.inf
        call = f"{name}(x, 1) of shape {sizes} in {dtype}"
        with unchanged(call, x=x):
            yours = getattr(answer, name)(x, 1)
        expect_copy(yours, x, call)
    leaf = torch.zeros(2, 3, requires_grad=True)
    getattr(answer, name)(leaf, 1)
    (leaf * math.nan).sum().backward()  # a hook on x would see it
    expect_that(
        bool(leaf.grad.isnan().all()),
        f"{name}(x, 1) leaves a hook on x: it changes the gradient of something else",
        yours=leaf.grad,
        wanted="NaN, as without a call of yours",
    )


@pytest.mark.parametrize("name", BOTH)
def test_own_computation(answer, name):
    """Neither function leans on one that does its work."""
    with forbid(f"{name}(x, 1)", *OWN):
        getattr(answer, name)(torch.ones(2, 3), 1)


@pytest.mark.parametrize("name", BOTH)
def test_stays_on_the_device(answer, gen, device, name):
    """Logits on another device are worked on there, without a copy to or from the CPU."""
    x = torch.randn(3, 4, generator=gen)
    x[1] = -math.inf
    wanted = exact(name, x, 1).float()
    there = x.to(device)
    with count_traffic() as traffic:
        yours = getattr(answer, name)(there, 1)
    expect_that(yours.device == there.device, f"{name}(x, 1) is on another device than x", yours=yours)
    expect_close(on_host(yours), wanted, f"{name}(x, 1)")
    expect_no_traffic(traffic, f"{name}(x, 1)")


def oracle(answer, gen):
    x = torch.randn(4, 5, generator=gen, dtype=torch.float64)
    x[0] += 1e4
    x[1, 2] = x[2] = -math.inf
    found = []
    for name in BOTH:
        leaf = x.clone().requires_grad_()
        out = getattr(answer, name)(leaf, 1)
        out[[0, 1, 3]].mul(torch.randn(out[[0, 1, 3]].shape, generator=gen)).sum().backward()
        found.append([out.detach(), leaf.grad])
    return found
