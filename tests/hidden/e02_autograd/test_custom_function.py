"""What grades custom_function: values, gradients, what is kept; second order, what is computed, shapes."""

import pytest
import torch

from grader.checks import count_operations, expect_raises, expect_that, held_bytes, saved_bytes, unchanged
from grader.checks.contract import Contract, given, gradients, values


def right(x, beta, scale=1.0):
    return scale * x * torch.sigmoid(beta * x)


def draw(gen, shape, beta, **options):
    return given(2 * torch.randn(shape, generator=gen), torch.randn(beta, generator=gen), **options)


def ordinary(gen):
    return {
        "one beta": draw(gen, (4,), ()),
        "a beta for each feature": draw(gen, (3, 4), (4,)),
        "one beta for a table, scale 2.5": draw(gen, (2, 3), (), scale=2.5),
        "a beta for each feature, scale -3": draw(gen, (5, 2), (2,), scale=-3.0),
    }


def broadcast(gen):
    return {
        f"beta of {beta}, x of {shape}": draw(gen, shape, beta, scale=1.5)
        for shape, beta in [
            ((2, 3, 4), (3, 1)),
            ((2, 3), (2, 3)),
            ((2, 3), (1, 3)),
            ((2, 3, 4), (4,)),
            ((), ()),
        ]
    }


contract = Contract(
    "swish(x, beta)",
    reference=right,
    inputs=ordinary,
    gradient="x beta",
    scale=40.0,
    suspects={
        "scale is left out": lambda x, beta, scale=1.0: right(x, beta),
        "beta is left out": lambda x, beta, scale=1.0: right(x, torch.ones_like(beta), scale),
    },
    fine=[
        values(
            inputs=broadcast, name="beta_of_other_shapes", title="beta may have any shape that broadcasts."
        ),
        gradients(
            "x beta",
            inputs=broadcast,
            name="gradients_for_beta_of_other_shapes",
            title="The gradient of beta has its shape, whatever that is.",
        ),
        gradients(
            "x beta",
            inputs=lambda gen: {
                "one beta": draw(gen, (4,), ()),
                "a beta for each feature": draw(gen, (3, 4), (4,), scale=3.3),
            },
            second_order=True,
            scale=100.0,
            name="second_order",
            title="Gradients of gradients are right.",
        ),
    ],
)


def test_only_inputs_are_kept(answer, gen):
    """Of tensors, nothing is kept for backward but x and beta."""
    x = torch.randn(16, 32, generator=gen).requires_grad_()
    beta = torch.randn(32, generator=gen).requires_grad_()
    saved = saved_bytes(lambda: answer.swish(x, beta, scale=2.0))
    held = held_bytes(lambda: answer.swish(x, beta, scale=2.0))
    for found, allowed, what in [
        (saved, x.nbytes + beta.nbytes, "saves more than x and beta for backward"),
        (held, x.nbytes + 64, "holds more than its result, x and beta until backward"),
    ]:
        expect_that(
            found <= allowed,
            f"swish(x, beta) {what}",
            yours=f"{found} bytes",
            wanted=f"{allowed} bytes",
            likely="a result of forward, such as the gate, is kept: compute it again in backward",
        )


@pytest.mark.fine
def test_inputs_are_watched(answer, gen):
    """If an input is changed in place before backward, backward raises instead of giving wrong gradients."""
    for name in ("x", "beta"):
        inputs = {
            "x": torch.randn(3, 4, generator=gen).requires_grad_(),
            "beta": torch.randn(4, generator=gen).requires_grad_(),
        }
        y = answer.swish(**inputs, scale=2.0)
        with torch.no_grad():
            inputs[name].fill_(1)
        call = f"backward after {name} was changed in place (not kept by ctx.save_for_backward?)"
        expect_raises(RuntimeError, lambda y=y: y.sum().backward(), call)


@pytest.mark.fine
def test_only_what_is_needed(answer, gen):
    """Where only x or only beta requires a gradient, backward takes fewer operations."""

    def operations(*required):
        x = torch.randn(3, 4, generator=gen).requires_grad_("x" in required)
        beta = torch.randn(4, generator=gen).requires_grad_("beta" in required)
        y = answer.swish(x, beta, scale=2.0)
        wanted = [t for t in (x, beta) if t.requires_grad]
        return count_operations(lambda: torch.autograd.grad(y, wanted, torch.ones(3, 4))).total()

    both = operations("x", "beta")
    for name in ("x", "beta"):
        found = operations(name)
        expect_that(
            found < both,
            f"backward computes a gradient that nobody asked for, where only {name} requires one",
            yours=f"{found} operations",
            both=f"{both} operations where x and beta require one",
        )


@pytest.mark.fine
def test_incoming_gradient_is_left_alone(answer, gen):
    """backward does not change the gradient that comes in: others get it, too."""
    x, beta, incoming = torch.randn(3, 4, generator=gen), torch.ones(4), torch.randn(3, 4, generator=gen)
    y = answer.swish(x.requires_grad_(), beta.requires_grad_(), scale=2.0)
    with unchanged("backward of swish(x, beta, scale=2.0)", gradient=incoming):
        torch.autograd.grad(y, [x, beta], incoming)


def oracle(answer, gen):
    def called(gen, name):
        """The result, x and beta; in float64, as terms near 0 may cancel."""
        call = ordinary(gen)[name]
        x, beta = (t.double().requires_grad_() for t in call.args)
        return answer.swish(x, beta, **call.kwargs), x, beta

    def value(name):
        return lambda gen: called(gen, name)[0].detach().float()

    def gradient(name, place):
        def case(gen):
            y, *inputs = called(gen, name)
            y.backward(torch.randn(y.shape, generator=gen, dtype=y.dtype))
            return inputs[place].grad.float()

        return case

    one, many, scaled, below = ordinary(gen)
    return {
        **{name: value(name) for name in (one, many, scaled, below)},
        f"the gradient for x of {one}": gradient(one, 0),
        f"the gradient for x of {many}": gradient(many, 0),
        f"the gradient for beta of {scaled}": gradient(scaled, 1),
        f"the gradient for beta of {below}": gradient(below, 1),
    }
