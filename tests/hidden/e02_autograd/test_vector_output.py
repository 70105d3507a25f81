"""What grades vector_output: weighted gradients and products of any shape; constants, traces left."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_raises, expect_that
from grader.checks.contract import Contract, device, flat_cost, given, untouched, values

SHAPES = [(5,), (3, 4), (2, 1, 3), ()]
REFUSED = (ValueError, RuntimeError)


def losses_of(w):
    return (w * w.sum() + w.sin()) * 1.5


def mixed(x):
    """(rows, columns) to (columns, 2): every output depends on several inputs."""
    return torch.stack([(x * x).sum(0), x.prod(0)], -1).sin() + x.sum() / 3


def drawn(gen, shape, weighted=True, old=False, live=False):
    """Losses of w, which may have an older gradient, and weights, which may require one."""
    w, weights, grad = (torch.randn(shape, generator=gen) for _ in range(3))
    w = nn.Parameter(w)
    w.grad = grad if old else None
    return given(losses_of, *[nn.Parameter(weights) if live else weights] * weighted, w=w)


def backward(answer, losses, weights=None, *, w):
    answer.weighted_backward(losses(w), weights)


def in_sum(losses, weights=None, *, w):
    losses = losses(w)
    (losses if weights is None else losses * weights.detach()).sum().backward()


def anew(losses, weights=None, *, w):
    w.grad = None
    in_sum(losses, weights, w=w)


def one_by_one(fn, x, v):
    """The value and v @ J, one output after the other."""
    x = x.detach().requires_grad_()
    value = fn(x) + 0 * x.sum()
    rows = [torch.autograd.grad(number, x, retain_graph=True)[0] for number in value.flatten()]
    return value.detach(), sum(row * weight for row, weight in zip(rows, v.flatten(), strict=True))


weighted = Contract(
    "weighted_backward(losses, weights)",
    reference=in_sum,
    use=backward,
    inputs=lambda gen: {
        "shape (3, 4)": drawn(gen, (3, 4)),
        "a single loss": drawn(gen, ()),
        "shape (5,), on top of an older .grad": drawn(gen, (5,), weighted=False, old=True),
    },
    after="w.grad",
    scale=20.0,
    suspects={
        "the weights are ignored": lambda losses, weights=None, *, w: losses(w).sum().backward(),
        "it is the gradient of the mean of the losses": lambda losses, weights=None, *, w: (
            losses(w).mean().backward()
        ),
        "the older .grad is gone: backward adds to it": anew,
    },
    job=[
        values(
            inputs=lambda gen: {f"shape {shape}": drawn(gen, shape) for shape in SHAPES},
            title="The gradient is that of the weighted sum of the losses, for losses of any shape.",
        ),
        values(
            inputs=lambda gen: {f"shape {shape}": drawn(gen, shape, weighted=False) for shape in SHAPES},
            name="no_weights",
            title="Without weights, each loss counts 1: their sum, not their mean.",
        ),
        values(
            inputs=lambda gen: {"losses, on top of an older .grad": drawn(gen, (4,), old=True)},
            name="adds_to_grad",
            title="Gradients are added to what stands in `.grad` already, as with any backward.",
        ),
        flat_cost(
            lambda n: given(torch.sin, torch.ones(n), w=torch.ones(n, requires_grad=True)),
            over="losses",
            title="One backward pass does, however many losses there are.",
        ),
    ],
    fine=[
        values(
            inputs=lambda gen: {"weights that require a gradient": drawn(gen, (4,), live=True)},
            after="weights.grad",
            name="weights_are_constants",
            title="No gradient flows to the weights.",
        )
    ],
)

products = Contract(
    "vjp(fn, x, v)",
    reference=one_by_one,
    use=lambda answer, *call: tuple(t.detach() for t in answer.vjp(*call)),
    inputs=lambda gen: {
        f"shapes {size} and {outputs}": given(
            fn, torch.randn(size, generator=gen), torch.randn(outputs, generator=gen)
        )
        for fn, size, outputs in [
            (mixed, (3, 4), (4, 2)),
            (torch.sin, (5,), (5,)),
            (mixed, (2, 2), (2, 2)),
            (lambda x: x.exp().sum(), (3,), ()),
        ]
    },
    scale=20.0,
    suspects={
        "v is ignored": lambda fn, x, v: one_by_one(fn, x, torch.ones_like(v)),
        "it is J @ v: v weighs the outputs, so v @ J is asked for": lambda fn, x, v: torch.func.jvp(
            fn, (x,), (v,)
        ),
    },
    job=[
        values(title="Value and product are right for inputs and outputs of different shapes."),
        flat_cost(
            lambda n: given(torch.sin, torch.ones(n), torch.ones(n)),
            over="outputs",
            title="One call of fn and one backward pass do, however many outputs there are.",
        ),
    ],
    fine=[
        values(
            inputs=lambda gen: {
                "a constant": given(lambda x: torch.ones(2), torch.ones(3, 4), torch.ones(2)),
                "parameters only": given(
                    lambda x: 2 * nn.Parameter(torch.ones(2)), torch.ones(3), torch.ones(2)
                ),
            },
            name="of_a_constant",
            title="Where fn(x) does not depend on x, the product is zeros.",
        ),
        untouched(title="x stays as it is: its values, and whether it requires a gradient."),
        device(title="Value and product lie on the device of x."),
    ],
)


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
def test_vjp_results_are_constants(answer, gen):
    """Neither result of vjp requires a gradient, even if x and the parameters of fn do."""
    weight, x = (torch.randn(4, generator=gen).requires_grad_() for _ in range(2))
    found = answer.vjp(lambda x: x.sin() * weight, x, torch.ones(4))
    for place, result in zip(("first", "second"), found, strict=True):
        told = f"the {place} result of vjp(fn, x, v) requires a gradient"
        expect_that(not result.requires_grad, told, yours=result)
