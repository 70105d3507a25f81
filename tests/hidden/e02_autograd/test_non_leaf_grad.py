"""What grades backward_with_activations: each gradient, parameters, later calls; inputs of all kinds."""

import copy
from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_gradient, expect_that, unchanged
from grader.checks.contract import Contract, given, values
from grader.checks.registered import randomize

CALL = "backward_with_activations(layers, inputs, loss_fn)"


def cubes(h):
    return (h**3).mean() + h.sum()


def network(gen, *before, rows=4, loss_fn=cubes, grad=None):
    """Layers from 3 features to 2, with what has no parameters in between."""
    layers = nn.ModuleList([nn.Linear(3, 4), *before, nn.Tanh(), nn.Sigmoid(), nn.Linear(4, 2)])
    randomize(layers, gen)
    for p in layers.parameters():
        p.grad = None if grad is None else torch.full_like(p, grad)
    return given(layers, torch.randn(rows, 3, generator=gen), loss_fn)


def repeated(gen):
    """Layers of which one comes twice, with numbers in `.grad`, but for one."""
    twice = nn.Linear(4, 4)
    call = network(gen, twice, twice, nn.Identity(), grad=2.0)
    twice.bias.grad = None
    return call


def frozen(gen):
    call = network(gen)
    layers = call.args[0]
    layers[0].requires_grad_(False)
    layers[3].bias.requires_grad_(False)
    return call


def backward(answer, layers, inputs, loss_fn):
    """The call, with a plain function in the place of a Tanh."""
    mixed = [torch.tanh if isinstance(layer, nn.Tanh) else layer for layer in layers]
    return list(answer.backward_with_activations(mixed, inputs, loss_fn))


def exact(layers, inputs, loss_fn, tell=lambda activation: activation.grad):
    """The gradient at each activation, from a graph of its own that starts at a copy of inputs."""
    h = inputs.detach().clone().contiguous().requires_grad_()
    activations = [h * 1]
    for layer in layers:
        activations.append(layer(activations[-1]) * 1)
    for activation in activations:
        activation.retain_grad()
    loss_fn(activations[-1]).backward()
    return [tell(activation) for activation in activations]


def wrong(**how):
    return partial(exact, **how)


contract = Contract(
    CALL,
    reference=exact,
    use=backward,
    inputs=lambda gen: {
        "five rows": network(gen, rows=5),
        "a single row": network(gen, rows=1),
        "three rows, with another loss": network(gen, rows=3, loss_fn=torch.sum),
    },
    after="layers.grad",
    scale=10.0,
    suspects={
        "retain_grad() comes after the backward, or never; or the graph ends before it": wrong(
            tell=lambda activation: None
        ),
        "these are the activations: their gradients are asked for": wrong(tell=torch.Tensor.detach),
    },
    job=[
        values(title="The gradient at each activation is right, and each parameter has its own in `.grad`.")
    ],
    fine=[
        values(
            inputs=lambda gen: {"layers of which one comes twice, with numbers in `.grad`": repeated(gen)},
            name="parameters_accumulate",
            title="Each parameter has its gradient added to what is in `.grad`, once.",
        ),
        values(
            inputs=lambda gen: [
                given(layers, torch.randn(4, 2, generator=gen), cubes)
                for layers in (
                    [],
                    [torch.tanh, nn.Identity(), lambda h: h, torch.exp],
                    [torch.sin, torch.sin],
                )
            ],
            name="idle_and_repeated_layers",
            title="There may be no layers, and a layer may return its input as it is, or come twice.",
        ),
        values(
            inputs=lambda gen: {"frozen layers": frozen(gen)},
            name="frozen_layers",
            title="Through frozen layers the gradients are the same, and the frozen parameters get none.",
        ),
    ],
)


def expect_all(found, wanted, when=CALL):
    expect_equal(len(found), len(wanted), f"the number of gradients from {when}")
    for place, (yours, right) in enumerate(zip(found, wanted, strict=True)):
        at = "inputs" if place == 0 else f"the output of layer {place - 1}"
        # a gradient may be a sum of terms that cancel: rounding goes by numbers around 1
        expect_close(yours, right, f"{when}, at {at}", scale=float(right.abs().max()) + 1.0)


def test_call_after_call(answer, gen):
    """Each call reports its own gradients, and leaves inputs as it was; what was reported stays."""
    layers, x, _ = network(gen).args
    wanted = exact(copy.deepcopy(layers), x, cubes)
    with unchanged(CALL, inputs=x):
        first = answer.backward_with_activations(layers, x, cubes)
        second = answer.backward_with_activations(layers, x, cubes)
    expect_that(x.grad is None, f"inputs that require no gradients have a `.grad` after {CALL}")
    expect_all(second, wanted, f"the second of two {CALL}")
    expect_all(first, wanted, f"the first of two {CALL}, looked at again")


@pytest.mark.fine
def test_shapes_and_dtypes_change(answer, gen):
    """Layers may change shape and dtype: each gradient has those of its activation."""
    layers = (
        nn.Flatten(),
        torch.Tensor.bfloat16,
        torch.Tensor.double,
        lambda h: h[:, ::2].square(),
        torch.sum,
    )
    for x in (torch.randn(2, 3, 2, generator=gen), torch.randn(2, 3, 2, generator=gen).half()):
        wanted = exact(layers, x, lambda h: h * 3)
        found = answer.backward_with_activations(layers, x, lambda h: h * 3)
        expect_all(found, wanted, f"{CALL} of {x.dtype} inputs")


@pytest.mark.fine
def test_inputs_that_are_a_leaf(answer, gen):
    """Inputs may be a leaf: its `.grad` is added to, and has no influence on what is returned."""
    layers, x, _ = network(gen).args
    wanted = exact(copy.deepcopy(layers), x.requires_grad_(), cubes)
    x.grad = torch.full_like(x, 5.0)
    found = answer.backward_with_activations(layers, x, cubes)
    expect_all(found, wanted, f"{CALL}, where inputs has a `.grad`")
    expect_gradient(x.grad, wanted[0] + 5.0, "inputs, in `.grad` where 5 lay before", scale=10.0)
    expect_that(x.requires_grad, f"inputs requires no gradients after {CALL}, and did before")


@pytest.mark.fine
def test_inputs_that_were_computed(answer, gen):
    """Inputs may come from other operations: the gradient flows on to where these started."""
    layers, source, _ = network(gen).args
    x = source.requires_grad_().sin()
    wanted = exact(copy.deepcopy(layers), x, cubes)
    found = answer.backward_with_activations(layers, x, cubes)
    expect_all(found, wanted, f"{CALL} with computed inputs")
    onward = wanted[0] * source.detach().cos()
    expect_that(source.grad is not None, "no gradient flows on to what inputs was computed from")
    expect_gradient(source.grad, onward, "what inputs was computed from", scale=10.0)


@pytest.mark.fine
def test_no_graph(answer, gen):
    """The gradients carry no graph."""
    layers, source, _ = network(gen).args
    source.requires_grad_()
    for x in (source.detach(), source, source * 2):
        found = answer.backward_with_activations(layers, x, cubes)
        flags = [g.requires_grad for g in found]
        expect_equal(flags, [False] * 5, f"requires_grad of the gradients from {CALL}")
        flags = {p.grad.requires_grad for p in layers.parameters()}
        expect_equal(flags, {False}, f"requires_grad of the `.grad` of the parameters after {CALL}")


@pytest.mark.fine
def test_runs_once(answer):
    """Layers and loss run once, and the backward walks through each of them once."""
    ran, walked = [], []

    def layer(name):
        def forward(h):
            ran.append(name)
            out = h.sin()
            out.register_hook(lambda gradient: walked.append(name))
            return out

        return forward

    def loss_fn(h):
        ran.append("loss")
        return h.sum()

    answer.backward_with_activations([layer("a"), layer("b")], torch.ones(3), loss_fn)
    expect_equal(ran, ["a", "b", "loss"], "what runs forward")
    expect_equal(walked, ["b", "a"], "what the backward walks through")
