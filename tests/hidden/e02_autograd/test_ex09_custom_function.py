"""What grades custom_function: gradients of both orders, what is saved, what is computed, masks, extremes."""

import math
from functools import partial

import torch
from torch.autograd import gradcheck, gradgradcheck

from grader.checks import (
    count_operations,
    expect_close,
    expect_equal,
    expect_gradients,
    expect_raises,
    expect_that,
    held_bytes,
    saved_bytes,
    unchanged,
)

SHAPES = [
    ((4,), ()),
    ((3, 4), (4,)),
    ((2, 3, 4), (3, 1)),
    ((2, 3), (2, 3)),
    ((2, 3), (1, 3)),
    ((2, 3), (1, 1)),
    ((), ()),
    ((0, 3), (3,)),
    ((0, 3), (1, 3)),
]
"""Of x, and of beta."""


def right(x, beta, keep=None, scale=1.0):
    y = scale * x * torch.sigmoid(beta * x)
    return y if keep is None else torch.where(keep, y, 0)


def draw(gen, x_shape, beta_shape, dtype=torch.float32):
    x = 2 * torch.randn(x_shape, generator=gen, dtype=torch.float64)
    beta = torch.randn(beta_shape, generator=gen, dtype=torch.float64)
    return x.to(dtype), beta.to(dtype)


def mask(gen, shape):
    return torch.rand(shape, generator=gen) < 0.6


def test_values(answer, gen):
    """Values are right for betas of all shapes, with and without keep and scale, in both dtypes."""
    for shapes in SHAPES:
        for dtype in (torch.float32, torch.float64):
            x, beta = draw(gen, *shapes, dtype)
            keep = mask(gen, x.shape)
            for note, options in [
                ("", {}),
                (", keep, -2.7", {"keep": keep, "scale": -2.7}),
                (", scale=0.0", {"scale": 0.0}),
            ]:
                wanted = right(x.double(), beta.double(), **options).to(dtype)
                call = f"swish(x, beta{note}), x of shape {shapes[0]}, beta of shape {shapes[1]}"
                with unchanged(call, x=x, beta=beta, keep=keep):
                    yours = answer.swish(x, beta, **options)
                suspects = {
                    "scale is left out": partial(right, x, beta, options.get("keep")),
                    "keep is left out": partial(right, x, beta, scale=options.get("scale", 1.0)),
                    "keep and scale are left out": partial(right, x, beta),
                }
                expect_close(yours, wanted, call, suspects=suspects)


def test_gradients(answer, gen):
    """Gradients are right for betas of all shapes, and have their shapes."""
    for shapes in SHAPES:
        x, beta = draw(gen, *shapes)
        call = f"swish(x, beta), x of shape {shapes[0]}, beta of shape {shapes[1]}"
        expect_gradients(answer.swish, [x, beta], right, gen=gen, call=call, names="x beta", scale=10.0)


def test_second_order(answer, gen):
    """Gradients of gradients are right, with keep and scale too."""
    for shapes in [((3, 4), (4,)), ((2, 3), ())]:
        for dtype in (torch.float32, torch.float64):
            x, beta = draw(gen, *shapes, dtype)
            for note, options in [("", {}), (", keep, 3.3", {"keep": mask(gen, x.shape), "scale": 3.3})]:
                expect_gradients(
                    lambda x, beta, o=options: answer.swish(x, beta, **o),
                    [x, beta],
                    lambda x, beta, o=options: right(x, beta, **o),
                    gen=gen,
                    call=f"swish(x, beta{note})",
                    names="x beta",
                    second_order=True,
                    scale=60.0,
                )


def test_gradcheck(answer, gen):
    """gradcheck and gradgradcheck find the derivatives that finite differences find."""
    x, beta = (t.requires_grad_() for t in draw(gen, (2, 3), (3,), torch.float64))
    keep = mask(gen, (2, 3))
    fn = lambda x, beta: answer.swish(x, beta, keep, 1.5)  # noqa: E731
    with unchanged("swish(x, beta, keep, 1.5) and its backward", x=x, beta=beta, keep=keep):
        first = gradcheck(fn, (x, beta), raise_exception=False, fast_mode=True)
        second = gradgradcheck(fn, (x, beta), raise_exception=False, fast_mode=True)
    expect_that(first, "gradcheck of swish(x, beta, keep, 1.5) fails")
    expect_that(second, "gradgradcheck of swish(x, beta, keep, 1.5) fails")


def test_strided_inputs(answer, gen):
    """Strided and expanded inputs give the same values and gradients."""
    x = torch.randn(4, 3, generator=gen).t()
    beta = torch.randn(1, generator=gen).expand(4)
    wanted = right(x.double(), beta.double()).float()
    expect_close(answer.swish(x, beta), wanted, "swish(x, beta) of strided inputs")

    def strided(fn):  # large gradients come in, which are nobody's to clip
        return lambda x, beta: 1e8 * fn(x.t()[:, ::2], beta.expand(3, 2))

    expect_gradients(
        strided(answer.swish),
        [torch.randn(4, 3, generator=gen), torch.randn(1, generator=gen)],
        strided(right),
        gen=gen,
        call="1e8 * swish(x, beta) of strided inputs",
        names="x beta",
        scale=1e9,
    )


def test_calls_do_not_mix(answer, gen):
    """Each call has its own keep and scale, and may go backward twice."""
    masks = [mask(gen, (3, 4)), mask(gen, (3, 4))]

    def twice(fn):
        return lambda x, beta: fn(x, beta, masks[0], 2.0) - fn(x * 2, beta, masks[1], -3.0) + fn(x, beta)

    given = draw(gen, (3, 4), (4,))
    call = "swish(x, beta, keep, 2.0) next to swish(2 * x, beta, other, -3.0)"
    expect_gradients(twice(answer.swish), given, twice(right), gen=gen, call=call, names="x beta", scale=40.0)

    x, beta = (t.requires_grad_() for t in given)
    y = answer.swish(x, beta, scale=2.0).sum()
    first, second = (
        [g.clone() for g in torch.autograd.grad(y, [x, beta], retain_graph=True)] for _ in range(2)
    )
    for name, one, other in zip(("x", "beta"), first, second, strict=True):
        expect_equal(other, one, f"the gradient of {name}, in a second backward through the same graph")
    y, incoming = answer.swish(x, beta, scale=2.0), torch.randn(3, 4, generator=gen)
    with unchanged("backward of swish(x, beta, scale=2.0)", gradient=incoming):  # which others get, too
        torch.autograd.grad(y, [x, beta], incoming)


def test_only_inputs_are_saved(answer, gen):
    """Nothing is kept for backward but x, beta and keep."""
    x, beta = (t.requires_grad_() for t in draw(gen, (16, 32), (32,)))
    keep = mask(gen, x.shape)
    for given, about in [((x, beta, keep), "x, beta and keep"), ((x, beta), "x and beta")]:
        allowed = sum(t.nbytes for t in given)
        saved = saved_bytes(lambda given=given: answer.swish(*given, scale=2.0))
        expect_that(
            saved <= allowed,
            f"swish of {about} keeps more than these for backward",
            yours=f"{saved} bytes",
            wanted=f"{allowed} bytes: those of the {len(given)} inputs",
            likely="a result of forward, such as the gate, is saved: compute it again in backward",
        )
        held = held_bytes(lambda given=given: answer.swish(*given, scale=2.0))
        expect_that(
            held <= x.nbytes + 64,
            f"swish of {about} holds more than its result and these inputs until backward",
            yours=f"{held} bytes",
            wanted=f"the {x.nbytes} bytes of the result",
            likely="a result of forward, such as the gate, is an attribute of ctx",
        )


def test_inputs_are_watched(answer, gen):
    """If an input is changed in place before backward, backward raises instead of giving wrong gradients."""
    for name in ("x", "beta", "keep"):
        x, beta = draw(gen, (4, 3), (4,))
        x, keep = x.t(), torch.ones(4, 3, dtype=torch.bool).t()  # contiguous() would copy these
        given = {"x": x.requires_grad_(), "beta": beta.requires_grad_(), "keep": keep}
        y = answer.swish(**given, scale=2.0)
        with torch.no_grad():
            given[name].fill_(1)
        call = f"backward after {name} was changed in place (a copy saved, or not by ctx.save_for_backward?)"
        expect_raises(RuntimeError, lambda y=y: y.sum().backward(), call)


def test_only_what_is_needed(answer, gen):
    """Backward computes a gradient only for the inputs that require one."""

    def cost(keep, *names):
        x, beta = draw(gen, (3, 4), (3, 4))
        wanted = [t.requires_grad_() for name, t in (("x", x), ("beta", beta)) if name in names]
        y = answer.swish(x, beta, keep)
        return sum(count_operations(lambda: torch.autograd.grad(y, wanted, torch.ones(3, 4))).values())

    keep = mask(gen, (3, 4))
    for given, name, other in (
        (None, "x", "beta"),
        (None, "beta", "x"),
        (keep, "x", "beta"),
        (keep, "beta", "x"),
    ):
        alone, both = cost(given, name), cost(given, "x", "beta")
        expect_that(
            alone < both,
            f"backward computes the gradient of {other} although only {name} requires one",
            yours=f"{alone} operations for {name} alone, {both} for both",
            likely="ctx.needs_input_grad is not asked",
        )


def test_backward_computes(answer, gen):
    """Backward computes the derivative by itself: autograd records nothing in it that it could derive."""
    x, beta = (t.requires_grad_() for t in draw(gen, (3, 4), (4,)))
    total = answer.swish(x, beta, mask(gen, (3, 4)), 2.0).sum()
    recorded = saved_bytes(lambda: torch.autograd.grad(total, [x, beta]))
    expect_that(
        recorded == 0,
        "Swish.backward records a graph, though no second-order gradients are asked for",
        yours=f"{recorded} bytes are kept for a backward within backward",
        likely="it runs forward again under enable_grad, and leaves the derivative to autograd",
    )


def test_each_alone(answer, gen):
    """Gradients are right where only one of the inputs requires one."""
    x, beta = draw(gen, (3, 4), (4,))
    keep = mask(gen, (3, 4))
    for given, fn, name in [
        (x, lambda f: lambda x: f(x, beta.to(x.dtype), keep, 2.0).square(), "x"),
        (beta, lambda f: lambda beta: f(x.to(beta.dtype), beta, keep, 2.0).square(), "beta"),
    ]:
        call = f"swish(x, beta, keep, 2.0) ** 2 where only {name} requires a gradient"
        expect_gradients(
            fn(answer.swish),
            [given],
            fn(right),
            gen=gen,
            call=call,
            names=name,
            second_order=True,
            scale=400.0,
        )


def test_hidden_numbers(answer, gen):
    """Where keep is False, y and the gradients of both orders are 0, even if x is inf or NaN there."""
    x, beta = draw(gen, (3, 4), (4,))
    x[0, 1], x[1, 1], x[2, 3] = math.nan, math.inf, -math.inf
    beta[1::2] = torch.tensor([2.0, -2.0])  # by which the largest finite number becomes inf too
    keep = torch.isfinite(x)
    clean = torch.where(keep, x, 0).double().requires_grad_()
    exact_beta = beta.double().requires_grad_()
    wanted = right(clean, exact_beta, keep)
    y = answer.swish(x.requires_grad_(), beta.requires_grad_(), keep)
    expect_close(y.detach(), wanted.detach().float(), "swish(x, beta, keep), inf and NaN in x")
    incoming = torch.where(keep, 1.0, math.nan)
    found = torch.autograd.grad(y, [x, beta], incoming, retain_graph=True)
    exact = torch.autograd.grad(wanted.sum(), [clean, exact_beta], retain_graph=True)
    for name, one, other in zip(("x", "beta"), found, exact, strict=True):
        call = f"the gradient for {name} through swish(x, beta, keep), NaN comes in where keep is False"
        expect_close(one, other.float(), call, scale=20.0)
    (found,) = torch.autograd.grad(y, x, torch.where(keep, math.nan, 1.0), retain_graph=True)
    call = "which gradients for x are NaN, where NaN comes in for all that keep lets through"
    expect_equal(found.isnan(), keep, call)
    for order in ("gradient", "second-order gradient"):
        exact = torch.autograd.grad(wanted.sum(), [clean, exact_beta], create_graph=True)
        mine = torch.autograd.grad(y.sum(), [x, beta], create_graph=True)
        for name, one, other in zip(("x", "beta"), mine, exact, strict=True):
            call = f"the {order} for {name} through swish(x, beta, keep), inf and NaN in x"
            expect_close(one.detach(), other.detach().float(), call, scale=20.0)
        wanted, y = exact[0] + exact[1], mine[0] + mine[1]
    wanted, y = right(clean, exact_beta, keep), answer.swish(x, beta, keep)
    exact = torch.autograd.grad(wanted.sum(), [clean, exact_beta], create_graph=True)
    mine = torch.autograd.grad(y, [x, beta], incoming, create_graph=True)
    exact = torch.autograd.grad(exact[0].sum() + exact[1].sum(), [clean, exact_beta])
    mine = torch.autograd.grad(mine[0].sum() + mine[1].sum(), [x, beta])
    for name, one, other in zip(("x", "beta"), mine, exact, strict=True):
        call = f"the second-order gradient for {name} through swish(x, beta, keep), NaN comes in at first"
        expect_close(one, other.float(), call, scale=60.0)
    y = answer.swish(x, beta, torch.zeros_like(keep))
    expect_that(y.requires_grad, "swish(x, beta, keep), keep is False everywhere, carries no graph", yours=y)
    for name, one in zip(("x", "beta"), torch.autograd.grad(y.sum(), [x, beta]), strict=True):
        call = f"the gradient for {name} through swish(x, beta, keep), keep is False everywhere"
        expect_close(one, torch.zeros_like(one), call)


def test_large_numbers(answer, gen):
    """Values and gradients are finite and right for x up to 1e4 in size."""
    x = torch.tensor([1e4, -1e4, 300.0, -300.0, 40.0, -40.0, 0.0])
    for sharpness in (1.0, -1.0):
        beta = torch.full((7,), sharpness)
        wanted = right(x.double(), beta.double()).float()
        expect_close(answer.swish(x, beta), wanted, f"swish(x, {sharpness}), x up to 1e4")
        call = f"swish(x, {sharpness}), x up to 1e4"
        expect_gradients(answer.swish, [x, beta], right, gen=gen, call=call, names="x beta", scale=1.0)
    # float64 resolves what is left of the gate where it is nearly shut or open
    x = torch.tensor([16.0, -16.0, 20.0, -20.0, 31.0, -31.0, -36.0], dtype=torch.float64)
    beta = torch.ones_like(x)
    expect_close(answer.swish(x, beta), right(x, beta), "swish(x, 1.0) in float64, x from 16 to 36")
    call = "swish(x, 1.0) in float64, x from 16 to 36"
    expect_gradients(answer.swish, [x, beta], right, gen=gen, call=call, names="x beta", scale=1000.0)


def oracle(answer, gen):
    x, beta = (t.requires_grad_() for t in draw(gen, (3, 4), (4,), torch.float64))
    y = answer.swish(x, beta, mask(gen, (3, 4)), 1.5)
    first = torch.autograd.grad((y * y).sum(), [x, beta], create_graph=True)
    second = torch.autograd.grad(first[0].sin().sum() + first[1].sum(), [x, beta])
    return [y.detach(), [g.detach() for g in first], list(second)]
