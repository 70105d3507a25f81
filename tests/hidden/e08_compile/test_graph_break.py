"""What grades bounded_residual: values, one graph for all cases; gradients, waiting, half precision."""

import math

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_that,
    unchanged,
)
from grader.checks.compile.graphs import expect_compiles
from grader.checks.devices import count_traffic, on_host

CALL = "bounded_residual(x, update)"
KINDS = ["small", "large", "inf", "nan"]


def rms_of(update):
    return update.detach().double().square().mean().sqrt().item()


def bounded(x, update, limit=1.0):
    """The result, with the branches written out, in float64."""
    size = rms_of(update)
    if not math.isfinite(size):
        return x.double()
    return x.double() + update.double() * (limit / size if size > limit else 1.0)


def drawn(gen, kind, sizes=(2, 3, 4), dtype=torch.float32):
    """A stream and an update of rms about 0.3, or about 6, or with one number that is not finite."""
    x, update = torch.randn(sizes, generator=gen), torch.randn(sizes, generator=gen)
    update *= {"zero": 0.0, "small": 0.3, "large": 6.0}.get(kind, 1.0)
    if kind in ("inf", "nan"):
        update.view(-1)[1] = math.inf if kind == "inf" else math.nan
    return x.to(dtype), update.to(dtype)


def expect_result(answer, x, update, call, limit=1.0):
    """Check the result and the rms of one call."""
    size, dtype = rms_of(update), x.dtype
    wanted = bounded(x, update, limit)
    suspects = {
        "0 · inf and 0 · NaN are NaN: choose zeros in place of the update, before the product": lambda: (
            x + update * (0.0 if not math.isfinite(size) else limit / size if size > limit else 1.0)
        ),
        "the limit is taken for 1": lambda: bounded(x, update),
        "the update is added as it is": lambda: x + update,
        "every update is scaled to the limit, small ones as well": lambda: x + update * (limit / size),
        "it is scaled by the norm, not the rms": lambda: x + update * (limit / update.norm()),
        "only numbers that are inf or NaN are skipped, not the whole update": lambda: (
            x + torch.where(update.isfinite(), update, 0.0)
        ),
        "the update is skipped": lambda: x,
    }
    suspects = {told: lambda make=make: make().to(dtype) for told, make in suspects.items()}
    result, rms = answer.bounded_residual(x.clone(), update.clone(), limit)
    expect_close(result, wanted.to(dtype), f"{call}[0]", dims="batch time dim", ulps=32, suspects=suspects)
    suspects = {
        "this is the norm": lambda: torch.tensor(size * update.numel() ** 0.5),
        "this is the rms after scaling": lambda: torch.tensor(limit),
        "this is the rms of the result": lambda: torch.tensor(rms_of(result)),
    }
    suspects = {told: lambda make=make: make().float() for told, make in suspects.items()}
    expect_close(rms, torch.tensor(size), f"{call}[1], the rms", suspects=suspects)


@pytest.mark.parametrize("kind", KINDS)
def test_all_cases(answer, gen, kind):
    """Small updates are added, large ones scaled, those with inf or NaN skipped."""
    expect_result(answer, *drawn(gen, kind), f"{CALL}, {kind} update")


@pytest.mark.parametrize("limit", [2.5, 0.1])
def test_limit(answer, gen, limit):
    """An update is scaled down to any limit, and never up."""
    for kind in ("small", "large"):
        call = f"bounded_residual(x, update, limit={limit}), {kind} update"
        expect_result(answer, *drawn(gen, kind), call, limit)


def test_one_graph_for_all_cases(answer, gen):
    """One graph serves small, large and broken updates, with the numbers of plain Python."""
    expect_compiles(answer.bounded_residual, [drawn(gen, kind) for kind in KINDS], CALL)


def gradients(answer, x, update, cotangent):
    """The gradients for x and update; zeros where there is none."""
    x, update = x.requires_grad_(), update.requires_grad_()
    result, _ = answer.bounded_residual(x, update)
    found = torch.autograd.grad(result, [x, update], cotangent, allow_unused=True, materialize_grads=True)
    return list(found)


def expect_gradients(answer, gen, kind):
    """Fail unless the gradients are those of a factor that is a constant."""
    x, update = drawn(gen, kind)
    size, cotangent = rms_of(update), torch.randn(x.shape, generator=gen)

    def through_the_factor():
        u = update.detach().clone().requires_grad_()
        return torch.autograd.grad(u / u.square().mean().sqrt(), u, cotangent)[0]

    mine, its = gradients(answer, x.clone(), update.clone(), cotangent)
    factor = (1.0 / size if size > 1 else 1.0) if math.isfinite(size) else 0.0
    suspects = {"it flows through the rms as well: detach it": through_the_factor}
    told = f"no gradient for update through {CALL}, {kind} update: the update is detached, not only its rms"
    expect_that(bool(its.any()) or not factor, told)
    expect_gradient(mine, cotangent, f"x through {CALL}, {kind} update", suspects=suspects)
    expect_gradient(its, cotangent * factor, f"update through {CALL}, {kind} update", suspects=suspects)


def test_gradients(answer, gen):
    """Stream and update get gradients where the update is added as it is."""
    expect_gradients(answer, gen, "small")


@pytest.mark.fine
@pytest.mark.parametrize("kind", ["large", "zero"])
def test_the_factor_is_a_constant(answer, gen, kind):
    """The factor is a constant for gradients, also that of an update of zeros, which is not scaled."""
    expect_gradients(answer, gen, kind)


@pytest.mark.fine
@pytest.mark.parametrize("kind", ["inf", "nan"])
def test_gradients_of_a_skipped_update(answer, gen, kind):
    """A skipped update gets zeros or no gradient, and x the gradient of the result."""
    expect_gradients(answer, gen, kind)


@pytest.mark.fine
def test_rms_has_no_graph(answer, gen):
    """The rms has no graph."""
    _, rms = answer.bounded_residual(*(t.requires_grad_() for t in drawn(gen, "small")))
    expect_equal(rms.requires_grad, False, "requires_grad of the rms")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """The result has the dtype of x; the rms is float32, and too large a square for float16 is none."""
    for kind in KINDS:
        expect_result(answer, *drawn(gen, kind, dtype=dtype), f"{CALL} in {dtype}, {kind} update")
    x, update = drawn(gen, "small", dtype=dtype)
    expect_result(answer, x, 3000 * update, f"{CALL} in {dtype}, update near 900")


@pytest.mark.fine
def test_double_precision(answer, gen):
    """The rms of an update in float64 is float32, and the result float64."""
    result, rms = answer.bounded_residual(*drawn(gen, "large", dtype=torch.float64))
    expect_equal((result.dtype, rms.dtype), (torch.float64, torch.float32), "the dtypes of result and rms")


@pytest.mark.fine
def test_inputs_stay(answer, gen):
    """x and update stay as they are."""
    for kind in KINDS:
        x, update = drawn(gen, kind)
        with unchanged(CALL, x=x, update=update):
            answer.bounded_residual(x, update)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """Result and rms stay on the device of x and update, and the host reads no number from there."""
    for kind in KINDS:
        x, update = drawn(gen, kind)
        there = x.to(device), update.to(device)
        with count_traffic() as traffic:
            result, rms = answer.bounded_residual(*there)
        waits = traffic.syncs + traffic.to_host
        expect_equal(waits, 0, f"the times that the host waits for numbers in {CALL}")
        expect_that(result.device == device, "the result is on another device than x", yours=result)
        expect_that(rms.device == device, "the rms is on another device than update", yours=rms)
        expect_close(on_host(result), bounded(x, update).float(), f"{CALL}[0] on a device, {kind} update")


def oracle(answer, gen):
    def bounded(kind, limit):
        return lambda gen: list(answer.bounded_residual(*drawn(gen, kind), limit))

    return {f"{kind} update, limit {limit}": bounded(kind, limit) for kind in KINDS for limit in (1.0, 0.2)}


def fine_oracle(answer, gen):
    def of(kind):
        x, update = drawn(gen, kind)
        return gradients(answer, x, update, torch.randn(x.shape, generator=gen))

    return {f"the gradients, {kind} update": of(kind) for kind in KINDS}
