"""What grades bounded_residual: values, one graph for all cases; gradients, waiting, half precision."""

import pytest
import torch

from grader.checks import expect_equal, expect_gradient, expect_that
from grader.checks.compile.graphs import expect_compiles
from grader.checks.contract import Contract, device, given, untouched, values

CALL = "bounded_residual(x, update)"
KINDS = ["small", "large", "inf", "nan"]


def rms_of(update):
    return update.detach().double().square().mean().sqrt()


def bounded(x, update, limit=1.0):
    """The result, with the branches written out, and the rms."""
    rms = rms_of(update)
    return (x + update * factor_of(rms, limit) if rms.isfinite() else x), rms.float()


def factor_of(rms, limit):
    return 0.0 if not rms.isfinite() else limit / rms if rms > limit else 1.0


def adds(make):
    """The mistake of another result, beside the right rms."""
    return lambda x, update, limit=1.0: (make(x, update, limit), rms_of(update).float())


def tells(make):
    """The mistake of another rms, beside the right result."""
    return lambda x, update, limit=1.0: (bounded(x, update, limit)[0], make(x, update, limit).float())


def drawn(gen, kind, *limit, dtype=torch.float32, sizes=(2, 3, 4), size=1.0):
    """A stream and an update of rms about 0.3, or about 6, or with one number that is not finite."""
    x, update = torch.randn(sizes, generator=gen), torch.randn(sizes, generator=gen)
    update *= {"zero": 0.0, "small": 0.3, "large": 6.0}.get(kind, 1.0)
    if kind in ("inf", "nan"):
        update.view(-1)[1] = float(kind)
    return given(x.to(dtype), update.to(dtype) * size, *limit)


def kinds(gen):
    return {f"{kind} update": drawn(gen, kind) for kind in KINDS}


def halves(gen):
    for dtype in (torch.float16, torch.bfloat16):
        yield from ((f"in {dtype}, {kind} update", drawn(gen, kind, dtype=dtype)) for kind in KINDS)
        yield f"in {dtype}, update near 900", drawn(gen, "small", dtype=dtype, size=3000)


contract = Contract(
    "bounded_residual(x, update, limit)",
    reference=bounded,
    inputs=lambda gen: {
        f"with {kind} update, limit {limit}": drawn(gen, kind, limit)
        for kind in KINDS
        for limit in (1.0, 0.2)
    },
    dims=("batch time dim", ""),
    ulps=32,
    suspects={
        "0 · inf and 0 · NaN are NaN: choose zeros in place of the update, before the product": adds(
            lambda x, u, limit: x + u * factor_of(rms_of(u), limit)
        ),
        "the limit is taken for 1": adds(lambda x, u, limit: bounded(x, u)[0]),
        "every update is scaled to the limit, small ones as well": adds(
            lambda x, u, limit: x + u * (limit / rms_of(u))
        ),
        "it is scaled by the norm, not the rms": adds(lambda x, u, limit: x + u * (limit / u.norm())),
        "only numbers that are inf or NaN are skipped, not the whole update": adds(
            lambda x, u, limit: x + u.where(u.isfinite(), 0.0) * (factor_of(rms_of(u), limit) or 1.0)
        ),
        "this is the norm": tells(lambda x, u, limit: u.norm()),
        "this is the rms after scaling": tells(lambda x, u, limit: torch.tensor(limit)),
        "this is the rms of the result": tells(lambda *call: rms_of(bounded(*call)[0])),
    },
    job=[
        values(
            inputs=kinds, title="Small updates are added, large ones scaled, those with inf or NaN skipped."
        ),
        values(
            inputs=lambda gen: {
                f"with {kind} update": drawn(gen, kind, limit)
                for limit in (2.5, 0.1)
                for kind in ("small", "large")
            },
            name="limit",
            title="An update is scaled down to any limit, and never up.",
        ),
    ],
    fine=[
        values(
            inputs=lambda gen: dict(halves(gen)),
            name="half_precision",
            title="The result has the dtype of x; the rms is float32: a square may be too large for less.",
        ),
        values(
            inputs=lambda gen: {"in float64, large update": drawn(gen, "large", dtype=torch.float64)},
            ulps=1e10,  # the factor may be float32, as the rms is
            name="double_precision",
            title="The rms of an update in float64 is float32, and the result float64.",
        ),
        untouched(inputs=kinds),
        device(inputs=kinds, title="Result and rms stay on the device, and the host reads no number there."),
    ],
)


def test_one_graph_for_all_cases(answer, gen):
    """One graph serves small, large and broken updates, with the numbers of plain Python."""
    expect_compiles(answer.bounded_residual, [drawn(gen, kind).args for kind in KINDS], CALL)


def gradients(answer, x, update, cotangent):
    """The gradients for x and update; zeros where there is none."""
    x, update = x.requires_grad_(), update.requires_grad_()
    result, _ = answer.bounded_residual(x, update)
    found = torch.autograd.grad(result, [x, update], cotangent, allow_unused=True, materialize_grads=True)
    return list(found)


def expect_gradients(answer, gen, kind):
    """Fail unless the gradients are those of a factor that is a constant."""
    x, update = drawn(gen, kind).args
    factor, cotangent = factor_of(rms_of(update), 1.0), torch.randn(x.shape, generator=gen)

    def through_the_factor():
        u = update.detach().clone().requires_grad_()
        return torch.autograd.grad(u / u.square().mean().sqrt(), u, cotangent)[0]

    mine, its = gradients(answer, x.clone(), update.clone(), cotangent)
    suspects = {"it flows through the rms as well: detach it": through_the_factor}
    told = f"no gradient for update through {CALL}, {kind} update: the update is detached, not only its rms"
    expect_that(bool(its.any()) or not factor, told)
    expect_gradient(mine, cotangent, f"x through {CALL}, {kind} update", suspects=suspects)
    expect_gradient(
        its, (cotangent * factor).float(), f"update through {CALL}, {kind} update", suspects=suspects
    )


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
    _, rms = answer.bounded_residual(*(t.requires_grad_() for t in drawn(gen, "small").args))
    expect_equal(rms.requires_grad, False, "requires_grad of the rms")


def fine_oracle(answer, gen):
    def of(kind):
        x, update = drawn(gen, kind).args
        return gradients(answer, x, update, torch.randn(x.shape, generator=gen))

    return {f"the gradients, {kind} update": of(kind) for kind in KINDS}
