"""What grades bounded_residual: one graph for all cases, values, gradients, dtypes, silence."""

import contextlib
import io
import math

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_gradients,
    expect_that,
    unchanged,
)
from grader.checks.compile.graphs import compiled, expect_compiles
from grader.checks.devices import count_traffic, on_host

CALL = "bounded_residual(x, update)"
KINDS = ["small", "large", "inf", "nan"]


def wanted_of(x, update, limit=1.0):
    """Result and rms, with the branches written out, in float64."""
    size = update.detach().double().square().mean().sqrt().item()
    if not math.isfinite(size):
        result = x.double() + 0 * update.double().nan_to_num(0, 0, 0)
    else:
        result = x.double() + update.double() * (limit / size if size > limit else 1.0)
    return result.to(x.dtype), torch.tensor(size, dtype=torch.float32)


def drawn(gen, kind, sizes=(2, 3, 4), dtype=torch.float32):
    """A stream and an update of rms about 0.3, or about 6, or with one number that is not finite."""
    x, update = torch.randn(sizes, generator=gen), torch.randn(sizes, generator=gen)
    update *= {"small": 0.3, "large": 6.0}.get(kind, 1.0)
    if kind in ("inf", "nan"):
        update.view(-1)[1] = math.inf if kind == "inf" else math.nan
    return x.to(dtype), update.to(dtype)


def expect_result(answer, x, update, call, *limit, dims=""):
    """Check one call, and give what it returned."""
    wanted, wanted_rms = wanted_of(x, update, *limit)
    with unchanged(call, x=x, update=update):
        result, rms = answer.bounded_residual(x, update, *limit)
    expect_close(result, wanted, f"{call}[0]", dims=dims, inputs={"x": x, "update": update})
    expect_close(rms, wanted_rms, f"{call}[1], the rms")
    return result, rms


@pytest.mark.parametrize("kind", KINDS)
def test_all_cases(answer, gen, kind):
    """Small updates are added, large ones scaled, those with inf or NaN skipped; x and update stay."""
    x, update = drawn(gen, kind)
    expect_result(answer, x, update, f"{CALL}, {kind} update", dims="batch time dim")
    x, update = drawn(gen, kind, (7, 30))
    x[2, :2] = torch.tensor([math.nan, math.inf])
    expect_result(
        answer, x, -update, f"{CALL}, {kind} update with its signs turned, x with NaN", dims="rows dim"
    )


def test_one_graph_for_all_cases(answer, gen):
    """One graph serves small, large and broken updates, with the numbers and gradients of plain Python."""
    batches = [drawn(gen, kind) for kind in KINDS]
    for x, update in batches:
        x.requires_grad_()
        update.requires_grad_()
    expect_compiles(answer.bounded_residual, batches, CALL)


def test_compiled_numbers(answer, gen):
    """A compiled answer bounds every update anew, by the limit that it is given."""
    batches = [(*drawn(gen, kind), limit) for kind in ("large", "small", "nan") for limit in (1.0, 2.5, 0.1)]
    with compiled(answer.bounded_residual, CALL) as captured:
        for x, update, limit in batches:
            wanted, wanted_rms = wanted_of(x, update, limit)
            result, rms = captured(x, update, limit)
            expect_close(result, wanted, f"the compiled bounded_residual(x, update, {limit})[0]")
            expect_close(rms, wanted_rms, f"the compiled bounded_residual(x, update, {limit})[1]")


@pytest.mark.parametrize("kind", ["small", "large"])
def test_gradients(answer, gen, kind):
    """The factor is a constant for gradients, and the rms has no graph."""
    x, update = drawn(gen, kind)
    expect_gradients(
        lambda x, update: answer.bounded_residual(x, update)[0],
        [x, update],
        lambda x, update: wanted_of(x, update)[0],
        gen=gen,
        call=f"{CALL}, {kind} update",
        names="x update",
    )
    _, rms = answer.bounded_residual(x.requires_grad_(), update.requires_grad_())
    expect_equal(rms.requires_grad, False, "requires_grad of the rms")


@pytest.mark.parametrize("kind", ["inf", "nan"])
def test_gradients_of_a_skipped_update(answer, gen, kind):
    """A skipped update gets zeros or no gradient, and x the gradient of the result."""
    x, update = drawn(gen, kind)
    cotangent = torch.randn(x.shape, generator=gen)
    x, update = x.requires_grad_(), update.requires_grad_()
    result, _ = answer.bounded_residual(x, update)
    expect_that(result.requires_grad, f"no gradient flows through {CALL} where the update is skipped")
    mine, skipped = torch.autograd.grad(result, [x, update], cotangent, allow_unused=True)
    expect_gradient(mine, cotangent, f"x where the update holds {kind}")
    if skipped is not None:
        expect_gradient(skipped, torch.zeros_like(update), f"an update that holds {kind}")


@pytest.mark.parametrize("limit", [2.5, 0.1, 3, 0, 0.0])
def test_limit(answer, gen, limit):
    """An update is scaled down to any limit, also to 0, and never up."""
    for kind in ("small", "large"):
        call = f"bounded_residual(x, update, limit={limit}), {kind} update"
        expect_result(answer, *drawn(gen, kind), call, limit, dims="batch time dim")
    x, _ = drawn(gen, "small")
    zeros = torch.zeros_like(x).requires_grad_()
    call = f"bounded_residual(x, zeros, limit={limit})"
    result, _ = expect_result(answer, x, zeros, call, limit)
    (mine,) = torch.autograd.grad(result.sum(), zeros)
    expect_gradient(mine, torch.ones_like(x), f"an update of zeros, which is not scaled, through {call}")
    zeros = zeros.detach()
    _, update = drawn(gen, "large")
    expect_result(answer, zeros, update, f"bounded_residual(zeros, update, limit={limit})", limit)


def test_tiny_numbers(answer, gen):
    """Updates and limits of a millionth, and updates of a trillion, are bounded by the same rule."""
    for kind in ("small", "large"):
        x, update = (1e-6 * t for t in drawn(gen, kind))
        expect_result(answer, x, update, f"bounded_residual(x, update, limit=1e-6), {kind} update", 1e-6)
        x, update = drawn(gen, kind)
        expect_result(answer, x, 1e12 * update, f"{CALL}, update near 1e12")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_narrow_dtypes(answer, gen, dtype):
    """The result has the dtype of x; the rms is float32, and too large a square for float16 is none."""
    for kind in KINDS:
        expect_result(answer, *drawn(gen, kind, dtype=dtype), f"{CALL} in {dtype}, {kind} update")
    x, update = drawn(gen, "small", dtype=dtype)
    large = (update.float() * 3000).to(dtype)  # about 900
    expect_result(answer, x, large, f"{CALL} in {dtype}, update near 900")
    many = drawn(gen, "large", (40, 100), dtype)
    expect_result(answer, *many, f"{CALL} of 4000 numbers in {dtype}")


@pytest.mark.parametrize("sizes", [(), (1,), (5,), (0, 4), (2, 1, 3, 2)], ids=str)
def test_any_shape(answer, gen, sizes):
    """Streams of any shape are bounded as a whole, also a single number and an empty batch."""
    for dtype in (torch.float32, torch.bfloat16):
        for kind in ("small", "large"):
            call = f"{CALL} of shape {sizes}, {dtype}"
            expect_result(answer, *drawn(gen, kind, sizes, dtype), call)


def test_any_layout(answer, gen):
    """Inputs that are not contiguous, or expanded, are bounded like any others."""
    for kind in KINDS:
        strided = (t.permute(2, 0, 1) for t in drawn(gen, kind, (4, 3, 2)))
        expect_result(answer, *strided, f"{CALL} of permuted tensors, {kind} update", dims="batch time dim")
        expanded = (t.expand(3, 4, 2) for t in drawn(gen, kind, (4, 2)))
        expect_result(answer, *expanded, f"{CALL} of expanded tensors, {kind} update", dims="batch time dim")


def test_nothing_is_printed(answer, gen):
    """Nothing is printed, compiled or not."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        for kind in KINDS:
            answer.bounded_residual(*drawn(gen, kind))
    expect_equal(printed.getvalue(), "", f"what {CALL} prints")


def test_on_a_device(answer, gen, device):
    """Result and rms stay on the device of x and update, and the host reads no number from there."""
    for kind in KINDS:
        x, update = drawn(gen, kind)
        wanted, wanted_rms = wanted_of(x, update)
        there = x.to(device), update.to(device)
        with count_traffic() as traffic:
            result, rms = answer.bounded_residual(*there)
        expect_equal(
            traffic.syncs + traffic.to_host, 0, f"the times that the host waits for numbers in {CALL}"
        )
        expect_that(result.device == device, "the result is on another device than x", yours=result)
        expect_that(rms.device == device, "the rms is on another device than update", yours=rms)
        expect_close(on_host(result), wanted, f"{CALL}[0] on another device, {kind} update")
        expect_close(on_host(rms), wanted_rms, f"{CALL}[1] on another device, {kind} update")


def oracle(answer, gen):
    results = []
    for kind in KINDS:
        for limit in (1.0, 0.2):
            x, update = drawn(gen, kind)
            x, update = x.requires_grad_(), update.requires_grad_()
            result, rms = answer.bounded_residual(x, update, limit)
            cotangent = torch.randn(x.shape, generator=gen)
            gradients = torch.autograd.grad(
                result, [x, update], cotangent, allow_unused=True, materialize_grads=True
            )
            results += [result.detach(), rms.detach(), *gradients]
    return results
