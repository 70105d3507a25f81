"""What grades vector_output: weighted gradients and products of any shape; constants, traces left."""

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradient,
    expect_raises,
    expect_that,
    unchanged,
)
from grader.checks.devices import on_host

SHAPES = [(5,), (3, 4), (2, 1, 3), ()]
REFUSED = (ValueError, RuntimeError)


def losses_of(w):
    return (w * w.sum() + w.sin()) * 1.5


def weighted(w, weights):
    """The gradient of the weighted sum."""
    w = w.detach().double().requires_grad_()
    (losses_of(w) * weights.detach().double()).sum().backward()
    return w.grad.float()


def product(fn, x, v):
    """v @ J, one output after the other."""
    x = x.detach().double().requires_grad_()
    rows = [torch.autograd.grad(number, x, retain_graph=True)[0] for number in fn(x).flatten()]
    return sum(row * weight for row, weight in zip(rows, v.double().flatten(), strict=True)).float()


def mixed(x):
    """(rows, columns) to (columns, 2): every output depends on several inputs."""
    return torch.stack([(x * x).sum(0), x.prod(0)], -1).sin() + x.sum() / 3


def test_weighted_sum_of_losses(answer, gen):
    """The gradient is that of the weighted sum of the losses, for losses of any shape."""
    for shape in SHAPES:
        w, weights = torch.randn(shape, generator=gen).requires_grad_(), torch.randn(shape, generator=gen)
        answer.weighted_backward(losses_of(w), weights)
        suspects = {"the weights are ignored": lambda w=w, n=shape: weighted(w, torch.ones(n))}
        call = f"w after weighted_backward(losses, weights), shape {shape}"
        expect_gradient(w.grad, weighted(w, weights), call, scale=20.0, suspects=suspects)


def test_no_weights(answer, gen):
    """Without weights, each loss counts 1: their sum, not their mean."""
    for shape in SHAPES:
        w, ones = torch.randn(shape, generator=gen).requires_grad_(), torch.ones(shape)
        answer.weighted_backward(losses_of(w))
        mean = {
            "it is the gradient of the mean of the losses": lambda w=w, o=ones: weighted(w, o / o.numel())
        }
        call = f"w after weighted_backward(losses), shape {shape}"
        expect_gradient(w.grad, weighted(w, ones), call, scale=20.0, suspects=mean)


def test_adds_to_grad(answer, gen):
    """Gradients are added to what stands in `.grad` already, as with any backward."""
    w, weights, old = (torch.randn(4, generator=gen) for _ in range(3))
    w.requires_grad_().grad = old.clone()
    answer.weighted_backward(losses_of(w), weights)
    suspects = {"the older .grad is gone: backward adds to it": lambda: weighted(w, weights)}
    call = "w after weighted_backward, on top of an older .grad"
    expect_gradient(w.grad, weighted(w, weights) + old, call, scale=20.0, suspects=suspects)


def test_vjp_of_any_shapes(answer, gen):
    """Value and product are right for inputs and outputs of different shapes."""
    total = lambda x: x.exp().sum()  # noqa: E731
    for fn, size, outputs in [
        (mixed, (3, 4), (4, 2)),
        (torch.sin, (5,), (5,)),
        (mixed, (2, 2), (2, 2)),
        (total, (3,), ()),
    ]:
        x, v = torch.randn(size, generator=gen), torch.randn(outputs, generator=gen)
        value, found = answer.vjp(fn, x, v)
        call = f"vjp(fn, x, v), shapes {size} and {outputs}"
        expect_close(value.detach(), fn(x.double()).float(), f"{call}, [0]", scale=10.0)
        suspects = {
            "v is ignored": lambda fn=fn, x=x, v=v: product(fn, x, torch.ones_like(v)),
            "it is J @ v: v weighs the outputs, so v @ J is asked for": lambda fn=fn, x=x, v=v: (
                torch.func.jvp(fn, (x,), (v,))[1]
            ),
        }
        wanted = product(fn, x, v)
        expect_close(found.detach(), wanted, f"{call}, [1]", inputs={"x": x}, scale=20.0, suspects=suspects)


def test_vjp_adds_to_no_grad(answer, gen):
    """Neither x nor a parameter that fn uses gets a gradient."""
    weight, leaf = (torch.randn(4, generator=gen).requires_grad_() for _ in range(2))
    leaf.grad = torch.ones(4)
    likely = "backward() fills every .grad: torch.autograd.grad hands gradients back"
    for x, about in [(leaf.detach(), "a constant"), (leaf, "a leaf with an older .grad")]:
        v = torch.randn(4, generator=gen)
        found = answer.vjp(lambda t: t.sin() * weight, x, v)[1].detach()
        wanted = (x.double().cos() * weight.double() * v.double()).float().detach()
        for name, grad, old in [("weight", weight.grad, None), ("x", leaf.grad, 1.0)]:
            kept = grad is None if old is None else bool((grad == old).all())
            told = f"vjp(fn, x, v) changes the .grad of {name}, where fn uses weight and x is {about}"
            expect_that(kept, told, yours=grad, likely=likely)
        expect_close(found, wanted, f"vjp(fn, x, v)[1], x {about}", scale=5.0)


def test_one_pass(answer):
    """One call of fn and one backward pass do, however many numbers there are."""

    def make_backward(n):
        w = torch.ones(n, requires_grad=True)
        return lambda: answer.weighted_backward(w.sin(), torch.ones(n))

    expect_flat_cost(make_backward, "weighted_backward(losses, weights)", over="losses")
    make_vjp = lambda n: lambda: answer.vjp(torch.sin, torch.ones(n), torch.ones(n))  # noqa: E731
    expect_flat_cost(make_vjp, "vjp(fn, x, v)", over="outputs")


@pytest.mark.fine
def test_weights_are_constants(answer, gen):
    """No gradient flows to the weights."""
    w, weights = (torch.randn(4, generator=gen).requires_grad_() for _ in range(2))
    answer.weighted_backward(losses_of(w), weights)
    expect_that(weights.grad is None, "weighted_backward puts a gradient on the weights", grad=weights.grad)


@pytest.mark.fine
def test_other_shapes_are_refused(answer):
    """Weights of any other shape raise, also those that would broadcast; no gradient changes."""
    for shape, others in {(3,): [(1,), (), (1, 3), (2,)], (2, 3): [(3,), (2, 1), (6,)]}.items():
        for other in others:
            w, weights = torch.ones(shape, requires_grad=True), torch.ones(other)
            backward = lambda w=w, v=weights: answer.weighted_backward(w**2, v)  # noqa: E731
            expect_raises(
                REFUSED, backward, f"weighted_backward(losses, weights), shapes {shape} and {other}"
            )
            expect_that(w.grad is None, "weighted_backward raises, and leaves a gradient", grad=w.grad)
            fails = lambda w=w, v=weights: answer.vjp(torch.exp, w.detach(), v)  # noqa: E731
            expect_raises(REFUSED, fails, f"vjp(fn, x, v), fn(x) of shape {shape} and v of shape {other}")


@pytest.mark.fine
def test_vjp_inside_no_grad(answer, gen):
    """vjp differentiates inside `torch.no_grad()` too."""
    x, v = torch.randn(4, generator=gen), torch.randn(4, generator=gen)
    with torch.no_grad():
        found = answer.vjp(torch.sin, x, v)[1]
    expect_close(found.detach(), x.cos() * v, "vjp(sin, x, v)[1] inside no_grad")


@pytest.mark.fine
def test_vjp_leaves_x_as_it_is(answer, gen):
    """x stays as it is: its values, and whether it requires a gradient."""
    x = torch.randn(4, generator=gen)
    with unchanged("vjp(sin, x, v)", x=x):
        answer.vjp(torch.sin, x, torch.ones(4))


@pytest.mark.fine
def test_vjp_results_are_constants(answer, gen):
    """Neither result of vjp requires a gradient, even if x and the parameters of fn do."""
    weight, x = (torch.randn(4, generator=gen).requires_grad_() for _ in range(2))
    found = answer.vjp(lambda x: x.sin() * weight, x, torch.ones(4))
    for place, result in zip(("first", "second"), found, strict=True):
        told = f"the {place} result of vjp(fn, x, v) requires a gradient"
        expect_that(not result.requires_grad, told, yours=result)


@pytest.mark.fine
def test_vjp_of_a_constant(answer, gen):
    """Where fn(x) does not depend on x, the product is zeros."""
    x, weight = torch.randn(3, 4, generator=gen), torch.ones(2, requires_grad=True)
    for fn, about in [(lambda x: torch.ones(2), "a constant"), (lambda x: weight * 2, "of parameters only")]:
        found = answer.vjp(fn, x, torch.ones(2))[1].detach()
        expect_close(found, torch.zeros(3, 4), f"vjp(fn, x, v)[1], fn {about}")


@pytest.mark.fine
def test_vjp_on_a_device(answer, gen, device):
    """Value and product lie on the device of x."""
    x, v = torch.randn(3, generator=gen), torch.randn(3, generator=gen)
    found = answer.vjp(torch.sin, x.to(device), v.to(device))
    expect_equal([t.device for t in found], [device] * 2, "the devices of vjp(sin, x, v)")
    expect_close(on_host(found[1]), x.cos() * v, "vjp(sin, x, v)[1] on a device")


def oracle(answer, gen):
    def weighted(gen):
        w = torch.randn(3, 4, generator=gen).requires_grad_()
        answer.weighted_backward(losses_of(w), torch.randn(3, 4, generator=gen))
        return w.grad

    def on_top(gen):
        u = torch.randn(5, generator=gen).requires_grad_()
        u.grad = torch.randn(5, generator=gen)
        answer.weighted_backward(losses_of(u))
        return u.grad

    def value_and_product(gen):
        value, found = answer.vjp(mixed, torch.randn(3, 4, generator=gen), torch.randn(4, 2, generator=gen))
        return value.detach(), found.detach()

    return {
        "the gradient of weighted losses": weighted,
        "the gradient without weights, on top of an older one": on_top,
        "the value of vjp": lambda gen: value_and_product(gen)[0],
        "the product of vjp": lambda gen: value_and_product(gen)[1],
    }
