"""What grades vector_output: gradients, shapes, dtypes, constants, no trace left, cost."""

import contextlib
import functools

import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradient,
    expect_raises,
    expect_that,
    modes_kept,
    unchanged,
)
from grader.checks.devices import on_host

SHAPES = [(), (1,), (5,), (3, 4), (2, 1, 3), (0, 3)]


def randn(gen, *shape, dtype=torch.float32):
    return torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype)


def losses_of(w):
    return (w * w.sum() + w.sin()) * 1.5


def weighted(w, weights):
    """The gradient of the weighted sum, in float64."""
    w = w.detach().double().requires_grad_()
    (losses_of(w) * weights.detach().double()).sum().backward()
    return w.grad


def product(fn, x, v):
    """v @ J in float64, number by number of the output."""
    x = x.detach().double().requires_grad_()
    rows = [torch.autograd.grad(number, x, retain_graph=True)[0] for number in fn(x).flatten()]
    return sum(row * weight for row, weight in zip(rows, v.detach().double().flatten(), strict=True))


def mixed(x):
    """(rows, columns) to (columns, 2): every output depends on several inputs."""
    return torch.stack([(x * x).sum(0), x.prod(0)], -1).sin() + x.sum() / 3


def test_weighted_sum_of_losses(answer, gen):
    """The gradient is that of the weighted sum of the losses, for losses of any shape."""
    for shape in SHAPES:
        w, weights = randn(gen, *shape).requires_grad_(), randn(gen, *shape)
        wanted = weighted(w, weights).float()
        plain = functools.partial(weighted, w, torch.ones(shape))
        suspects = {"the weights have no effect: that is the gradient of the plain sum": plain}
        answer.weighted_backward(losses_of(w), weights)
        call = f"w after weighted_backward(losses, weights), shape {shape}"
        expect_gradient(w.grad, wanted, call, scale=20.0, suspects=suspects)
        expect_that(not w.grad.requires_grad, "w.grad carries a graph after weighted_backward")


def test_no_weights(answer, gen):
    """Without weights, each loss counts once: their sum, not their mean."""
    for shape in [(), (5,), (3, 4), (0, 3)]:
        w = randn(gen, *shape).requires_grad_()
        wanted = weighted(w, torch.ones(shape)).float()
        answer.weighted_backward(losses_of(w))
        expect_gradient(w.grad, wanted, f"w after weighted_backward(losses), shape {shape}", scale=20.0)


def test_adds_to_grad(answer, gen):
    """Gradients are added to what stands in `.grad` already, as with any backward."""
    w, weights = randn(gen, 4).requires_grad_(), randn(gen, 4)
    w.grad = torch.tensor([1.0, 2.0, 3.0, 4.0])
    wanted = (weighted(w, weights) + torch.tensor([1.0, 2.0, 3.0, 4.0])).float()
    answer.weighted_backward(losses_of(w), weights)
    call = "w after weighted_backward, on top of an older .grad"
    suspects = {"the older .grad is gone: backward adds to it": lambda: weighted(w, weights)}
    expect_gradient(w.grad, wanted, call, scale=20.0, suspects=suspects)
    a, b, first, second = (randn(gen, 4) for _ in range(4))
    losses = a.requires_grad_() + b.requires_grad_()  # an addition saves nothing: it can be walked again
    wanted = first + second
    answer.weighted_backward(losses, first)
    expect_gradient(a.grad, first, "a after weighted_backward(a + b, first)")
    a.grad.zero_()
    answer.weighted_backward(losses, second)
    expect_gradient(b.grad, wanted, "b after two calls on a + b, a.grad zeroed in between", scale=4.0)
    losses = a.exp()  # which saves its result for the backward
    answer.weighted_backward(losses, first)
    expect_raises(RuntimeError, lambda: losses.sum().backward(), "a backward after weighted_backward(losses)")


def test_weights_of_any_dtype(answer, gen):
    """Weights of other dtypes count as their numbers: masks, counts, floats of another precision."""
    for dtype in (torch.float32, torch.float64):
        for weights in (
            torch.tensor([True, False, True, True]),
            torch.tensor([300, 0, -2000, 1]),
            torch.tensor([250, 0, 3, 1], dtype=torch.uint8),
            randn(gen, 4, dtype=torch.float64),
            randn(gen, 4, dtype=torch.bfloat16),
        ):
            w = randn(gen, 4, dtype=dtype).requires_grad_()
            wanted = weighted(w, weights.to(dtype)).to(dtype)
            answer.weighted_backward(losses_of(w), weights)
            note, scale = (
                f"{dtype} losses, {weights.dtype} weights",
                20.0 * float(weights.double().abs().max()),
            )
            expect_gradient(w.grad, wanted, f"w by weighted_backward, {note}", scale=scale)
            x, wanted_product = w.detach(), product(losses_of, w, weights.to(dtype)).to(dtype)
            value, yours = answer.vjp(losses_of, x, weights)
            expect_equal(value.dtype, dtype, f"the dtype of vjp(fn, x, v)[0] with {note}")
            expect_close(yours, wanted_product, f"vjp(fn, x, v)[1] with {note}", scale=scale)


def test_weights_count_in_the_dtype_of_what_they_weigh(answer):
    """A weight is as exact as what it weighs, whatever the dtype of the leaves."""
    exact, single, half = torch.float64, torch.float32, torch.float16
    for leaf, out, factors, numbers, about in [
        (single, exact, [1.0, -1.0], torch.tensor([2**24 + 1, 2**24]), "large counts"),
        (single, exact, [1e-200, 1e-200], torch.tensor([1e200, 2e200], dtype=exact), "huge weights"),
        (half, single, [1e-5, 2e-5], torch.tensor([1e5, 1e5]), "weights beyond float16"),
        (exact, single, [1.0, 2.0], torch.tensor([1 / 3, 1 / 7], dtype=exact), "fractions"),
        (exact, half, [1.0, 2.0], torch.tensor([1 / 3, 1 / 7], dtype=exact), "fractions"),
    ]:
        factors = torch.tensor(factors, dtype=out)
        wanted = (factors.double() * numbers.to(out).double()).sum().to(leaf)
        fn = lambda x, factors=factors, out=out: x.to(out) * factors  # noqa: E731
        note = f"{leaf} leaves, {out} losses, {about}"
        w = torch.ones((), dtype=leaf, requires_grad=True)
        answer.weighted_backward(fn(w), numbers)
        # the sum over both numbers is rounded to the dtype of what is weighed
        ulps = 4.0 * max(1.0, torch.finfo(out).eps / torch.finfo(leaf).eps)
        expect_that(w.grad is not None, f"w has no gradient after weighted_backward with {note}")
        expect_close(w.grad, wanted, f"w.grad after weighted_backward with {note}", ulps=ulps)
        yours = answer.vjp(fn, torch.ones((), dtype=leaf), numbers)[1]
        expect_close(yours, wanted, f"vjp(fn, x, v)[1] with {note}", ulps=ulps)


def test_weights_are_constants(answer, gen):
    """No gradient flows to the weights, nor through them."""
    w, weights = randn(gen, 4).requires_grad_(), randn(gen, 4).requires_grad_()
    wanted = weighted(w, weights).float()
    with unchanged("weighted_backward(losses, weights)", weights=weights):
        answer.weighted_backward(losses_of(w), weights=weights)
    expect_gradient(w.grad, wanted, "w after weighted_backward(losses, weights)", scale=20.0)
    expect_that(not w.grad.requires_grad, "w.grad carries a graph after weighted_backward(losses, weights)")
    expect_that(weights.grad is None, "weighted_backward puts a gradient on the weights")

    w = randn(gen, 4).requires_grad_()
    wanted = weighted(w, w.softmax(0)).float()
    answer.weighted_backward(losses_of(w), w.softmax(0))
    expect_gradient(w.grad, wanted, "w after weighted_backward(losses, softmax(w))", scale=20.0)

    v = randn(gen, 4).requires_grad_()
    for fn, about in ((losses_of, "fn"), (lambda x: x, "fn, which returns its argument,")):
        found = answer.vjp(fn, w.detach(), v)[1]
        expect_that(v.grad is None and not found.requires_grad, f"vjp of {about} lets gradients flow to v")


def test_other_shapes_are_refused(answer):
    """Weights of any other shape get a ValueError, also those that would broadcast; no gradient changes."""
    for shape, others in {
        (3,): [(1,), (), (3, 1), (1, 3)],
        (2, 3): [(3,), (3, 2), (6,), (2, 1)],
        (): [(1,), (1, 1)],
        (1,): [(), (1, 1)],
        (0, 3): [(0,), (3, 0), (1, 3)],
    }.items():
        for other in others:
            w = torch.ones(shape, requires_grad=True)
            call = f"weighted_backward(losses, weights), shapes {shape} and {other}"
            expect_raises(
                ValueError, lambda w=w, o=other: answer.weighted_backward(w**2, torch.ones(o)), call
            )
            expect_that(w.grad is None, f"{call} raises, but changes a gradient first", grad=w.grad)
            call = f"vjp(fn, x, v), fn(x) of shape {shape} and v of shape {other}"
            expect_raises(
                ValueError, lambda w=w, o=other: answer.vjp(torch.exp, w.detach(), torch.ones(o)), call
            )
            mask = torch.ones(other, dtype=torch.bool)
            call = f"weighted_backward(losses, mask), shapes {shape} and {other}"
            expect_raises(ValueError, lambda w=w, m=mask: answer.weighted_backward(w**2, m), call)
            call = f"vjp(fn, x, mask), fn(x) of shape {shape} and a mask of shape {other}"
            expect_raises(ValueError, lambda w=w, m=mask: answer.vjp(torch.exp, w.detach(), m), call)
    call = "vjp(fn, x, v), v of the shape of x instead of fn(x)"
    expect_raises(ValueError, lambda: answer.vjp(torch.sum, torch.ones(3), torch.ones(3)), call)


def test_vjp_of_any_shapes(answer, gen):
    """Value and product are right for inputs and outputs of different shapes, strided and expanded too."""
    for x in (randn(gen, 3, 4), randn(gen, 1, 1), randn(gen, 4, 6).t()[::2], randn(gen, 1, 5).expand(3, 5)):
        v = randn(gen, x.shape[1], 2)
        wanted = mixed(x.double()).float(), product(mixed, x, v).float()
        value, found = answer.vjp(mixed, x, v)
        expect_close(value, wanted[0], "vjp(fn, x, v)[0]", dims="column output", scale=10.0)
        plain = functools.partial(product, mixed, x, torch.ones_like(v))
        suspects = {"v has no effect: that is the gradient of the sum of fn(x)": plain}
        call, given = "vjp(fn, x, v)[1]", {"x": x}
        expect_close(found, wanted[1], call, dims="row column", inputs=given, scale=20.0, suspects=suspects)
    x, v = randn(gen, 3), randn(gen, 3)
    expect_close(answer.vjp(lambda x: x, x, v)[1], v, "vjp(fn, x, v)[1], where fn returns its argument")
    for x, fn, shape in [
        (randn(gen, 3, 4), lambda x: x[:0].sin(), (0, 4)),
        (randn(gen, 0, 4), lambda x: x.sum(1), (0,)),
        (randn(gen, 0, 4), lambda x: x.sum(0), (4,)),
    ]:
        call = f"vjp(fn, x, v), x of shape {tuple(x.shape)} and fn(x) of shape {shape}"
        value, found = answer.vjp(fn, x, torch.ones(shape))
        expect_close(value, torch.zeros(shape), f"{call}, [0]")
        expect_close(found, torch.zeros(x.shape), f"{call}, [1]")
    x, v = randn(gen, 3), randn(gen)
    wanted = product(lambda x: x.exp().sum(), x, v).float()
    expect_close(answer.vjp(lambda x: x.exp().sum(), x, v)[1], wanted, "vjp(fn, x, v)[1], fn(x) of shape ()")
    value, found = answer.vjp(lambda x: x.double().exp(), x, torch.ones(3))
    expect_close(value, x.double().exp(), "vjp(fn, x, v)[0], fn to float64")
    expect_close(found, x.exp(), "vjp(fn, x, v)[1], fn to float64: the dtype is that of x")


def test_vjp_leaves_no_trace(answer, gen):
    """x keeps its values, `.grad` and requires_grad; parameters that fn uses keep their `.grad`."""
    weight = randn(gen, 4).requires_grad_()
    source = randn(gen, 4).requires_grad_()
    old = torch.ones(4)
    v = randn(gen, 4)
    constant, leaf, inner = randn(gen, 4), randn(gen, 4).requires_grad_(), source * 2
    leaf.grad = old.clone()
    for x, about in [(constant, "a constant"), (leaf, "a leaf"), (inner, "part of a graph")]:
        wanted = (x.detach().double().cos() * weight.detach().double() * v.double()).float()
        with unchanged(f"vjp(fn, x, v), x {about},", x=x, v=v):
            found = answer.vjp(lambda t, x=x: t.sin() * weight + x, x, v)[1]
        expect_close(found, wanted, f"vjp(fn, x, v)[1], x {about}")
    expect_that(constant.grad is None, "vjp puts a gradient on x", grad=constant.grad)
    expect_equal(leaf.grad, old, "the .grad of x, which was there before vjp(fn, x, v)")
    expect_that(source.grad is None, "vjp goes on behind x, into the graph that x comes from")
    expect_that(weight.grad is None, "vjp puts a gradient on a parameter that fn uses", grad=weight.grad)


def test_vjp_results_are_constants(answer, gen):
    """Neither result of vjp requires a gradient, even if x and the parameters of fn do."""
    weight, x = randn(gen, 4).requires_grad_(), randn(gen, 4).requires_grad_()
    for at in (x, x.detach()):
        found = answer.vjp(lambda x: x.sin() * weight, at, torch.ones(4))
        for place, result in zip(("first", "second"), found, strict=True):
            call = f"the {place} result of vjp(fn, x, v)"
            expect_that(not result.requires_grad, f"{call} requires a gradient", yours=result)


def test_vjp_inside_no_grad(answer, gen):
    """vjp differentiates inside `torch.no_grad()` too, and leaves that switch where it was."""
    x, v = randn(gen, 4), randn(gen, 4)
    wanted = (x.double().cos() * v.double()).float()
    with torch.no_grad():
        with modes_kept("vjp(fn, x, v) inside no_grad"):
            found = answer.vjp(torch.sin, x, v)[1]
        for fn, about in ((torch.sin, "v has another shape"), (lambda x: 1 // 0, "fn raises an error")):
            with modes_kept(f"vjp where {about}"), contextlib.suppress(ValueError, ZeroDivisionError):
                answer.vjp(fn, x, v[:3])
    expect_close(found, wanted, "vjp(sin, x, v)[1] inside no_grad")
    with modes_kept("vjp(fn, x, v)"):
        answer.vjp(torch.sin, x, v)


def test_vjp_of_a_constant(answer, gen):
    """Where fn(x) does not depend on x, the product is zeros."""
    weight, x = randn(gen, 2).requires_grad_(), randn(gen, 3, 4, dtype=torch.float64)
    x[0, 1] = torch.inf  # times 0 it is NaN
    x.requires_grad_()
    for fn, about in [
        (lambda x: torch.tensor([1.0, 2.0]), "a constant"),
        (lambda x: weight * 2, "of parameters only"),
    ]:
        wanted, calls = fn(x).detach(), []
        value, found = answer.vjp(lambda x, fn=fn, calls=calls: calls.append(1) or fn(x), x, torch.ones(2))
        expect_equal(len(calls), 1, f"the number of calls of fn in vjp(fn, x, v), fn {about}")
        expect_close(value, wanted, f"vjp(fn, x, v)[0], fn {about}")
        for place, result in enumerate((value, found)):
            told = f"vjp(fn, x, v)[{place}], fn {about}, requires a gradient"
            expect_that(not result.requires_grad, told)
        expect_close(found, torch.zeros(3, 4, dtype=torch.float64), f"vjp(fn, x, v)[1], fn {about}")
        call = f"vjp(fn, x, v), fn {about} and v of another shape"
        expect_raises(ValueError, lambda fn=fn: answer.vjp(fn, x, torch.ones(3)), call)

    def spoiled(x):
        y = x.exp()
        out = y * 1
        y.zero_()  # exp has saved it for its backward
        return out

    call = "vjp(fn, x, v), where fn depends on x, but writes to what its backward needs"
    expect_raises(RuntimeError, lambda: answer.vjp(spoiled, torch.ones(3), torch.ones(3)), call)


def test_vjp_on_a_device(answer, gen, device):
    """Value and product lie on the device of x, also where fn(x) does not depend on x."""
    x, v = randn(gen, 3), randn(gen, 3)
    there = x.to(device), v.to(device)
    for fn, wanted, about in [
        (torch.sin, (x.sin(), x.cos() * v), "sin"),
        (torch.ones_like, (torch.ones(3), torch.zeros(3)), "ones_like"),
    ]:
        found = answer.vjp(fn, *there)
        places = [str(t.device) for t in found]
        expect_equal(places, [str(device)] * 2, f"the devices of vjp({about}, x, v)")
        for place, (yours, right) in enumerate(zip(found, wanted, strict=True)):
            expect_close(on_host(yours), right, f"vjp({about}, x, v)[{place}] on a device")


def test_one_pass(answer, gen):
    """One call of fn and one backward pass do, however many numbers there are."""
    calls = []

    def fn(x):
        calls.append(1)
        return x.sin()

    answer.vjp(fn, torch.ones(5), torch.ones(5))
    expect_equal(len(calls), 1, "the number of calls of fn in vjp(fn, x, v)")

    def make_backward(n):
        w = randn(gen, n).requires_grad_()
        return lambda: answer.weighted_backward(w.sin(), torch.ones(n))

    def make_vjp(n):
        x = randn(gen, n)
        return lambda: answer.vjp(torch.sin, x, torch.ones(n))

    expect_flat_cost(make_backward, "weighted_backward(losses, weights)", over="losses")
    expect_flat_cost(make_vjp, "vjp(fn, x, v)", over="outputs")


def oracle(answer, gen):
    w = torch.randn(3, 4, generator=gen).requires_grad_()
    answer.weighted_backward(losses_of(w), torch.randn(3, 4, generator=gen))
    x, v = torch.randn(3, 4, generator=gen), torch.randn(4, 2, generator=gen)
    value, found = answer.vjp(mixed, x, v)
    return [w.grad, value, found]
