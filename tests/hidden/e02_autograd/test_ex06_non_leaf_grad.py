"""What grades backward_with_activations: each gradient, parameters, later calls; inputs of all kinds."""

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_that,
    unchanged,
)

CALL = "backward_with_activations(…)"  # leaves room for what comes behind


def network(gen, dtype=torch.float32):
    """3 features to 4 to 2, with what has no parameters in between."""
    first, last = nn.Linear(3, 4), nn.Linear(4, 2)
    with torch.no_grad():
        for p in (*first.parameters(), *last.parameters()):
            p.copy_(torch.randn(p.shape, generator=gen))
    return [first.to(dtype), torch.tanh, nn.Sigmoid(), last.to(dtype)]


def parameters(layers):
    return [p for layer in layers if isinstance(layer, nn.Module) for p in layer.parameters()]


def cubes(h):
    return (h**3).mean() + h.sum()


def exact(layers, inputs, loss_fn):
    """The gradient at each activation, from a graph of its own that starts at a copy of inputs."""
    h = inputs.detach().clone().contiguous().requires_grad_()
    activations = [h * 1]
    for layer in layers:
        activations.append(layer(activations[-1]) * 1)
    gradients = torch.autograd.grad(loss_fn(activations[-1]), activations)
    return [g.clone() for g in gradients]


def expect_all(found, wanted, when=CALL):
    expect_that(isinstance(found, list | tuple), f"{when} does not return a list", yours=found)
    expect_equal(len(found), len(wanted), f"the number of gradients from {when}")
    for place, (yours, right) in enumerate(zip(found, wanted, strict=True)):
        at = "inputs" if place == 0 else f"the output of layer {place - 1}"
        # a gradient may be a sum of terms that cancel: rounding goes by numbers around 1
        largest = float(right.abs().max()) if right.numel() else 0.0
        expect_close(yours, right, f"{when}, at {at}", scale=largest + 1.0)


def test_each_activation(answer, gen):
    """The gradient at each activation is right, for modules and for plain functions."""
    for size in (5, 1):
        layers, x = network(gen), torch.randn(size, 3, generator=gen)
        expect_all(answer.backward_with_activations(layers, x, cubes), exact(layers, x, cubes))


def test_call_after_call(answer, gen):
    """Each call reports its own gradients, and leaves inputs as it was; what was reported stays."""
    layers, x = network(gen), torch.randn(4, 3, generator=gen)
    wanted = exact(layers, x, cubes)
    with unchanged(CALL, inputs=x):
        first = answer.backward_with_activations(layers, x, cubes)
        second = answer.backward_with_activations(layers, x, cubes)
    expect_that(x.grad is None, f"inputs that require no gradients have a `.grad` after {CALL}")
    expect_all(second, wanted, f"the second of two {CALL}")
    expect_all(first, wanted, f"the first of two {CALL}, looked at again")


def test_parameters(answer, gen):
    """Each parameter has its gradient in `.grad`, as by loss.backward()."""
    layers, x = network(gen), torch.randn(4, 3, generator=gen)
    h = x
    for layer in layers:
        h = layer(h)
    wanted = torch.autograd.grad(cubes(h), parameters(layers))
    answer.backward_with_activations(layers, x, cubes)
    for p, right in zip(parameters(layers), wanted, strict=True):
        expect_that(p.grad is not None, f"a parameter has no `.grad` after {CALL}")
        expect_gradient(p.grad, right, f"a parameter, in `.grad` after {CALL}", scale=10.0)


@pytest.mark.fine
def test_parameters_accumulate(answer, gen):
    """Each parameter has its gradient added to what is in `.grad`, once, as by loss.backward()."""
    layers, x = network(gen), torch.randn(4, 3, generator=gen)
    layers.insert(1, nn.Linear(4, 4))
    layers.append(lambda h: h)
    layers.insert(2, layers[1])  # the same layer twice
    h = x
    for layer in layers:
        h = layer(h)
    gradients = torch.autograd.grad(cubes(h), parameters(layers[:2] + layers[3:]))
    owned = parameters(layers[:2] + layers[3:])
    for number, p in enumerate(owned):
        p.grad = None if number == 2 else torch.full_like(p, 2.0)
    wanted = [g if number == 2 else g + 2 for number, g in enumerate(gradients)]
    answer.backward_with_activations(layers, x, cubes)
    for p, right in zip(owned, wanted, strict=True):
        expect_gradient(p.grad, right, f"a parameter, in `.grad` after {CALL}", scale=10.0)


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
def test_idle_and_repeated_layers(answer, gen):
    """There may be no layers, and a layer may return its input as it is, or come twice."""
    x = torch.randn(4, 2, generator=gen)
    for layers in ([], [torch.tanh, nn.Identity(), lambda h: h, torch.exp], [torch.sin, torch.sin]):
        wanted = exact(layers, x, cubes)
        found = answer.backward_with_activations(layers, x, cubes)
        expect_all(found, wanted, f"{CALL} with {len(layers)} layers, some of them idle or the same")


@pytest.mark.fine
def test_frozen_layers(answer, gen):
    """Through frozen layers the gradients are the same, and the frozen parameters get none."""
    layers, x = network(gen), torch.randn(4, 3, generator=gen)
    layers[0].requires_grad_(False)
    layers[3].bias.requires_grad_(False)
    wanted = exact(layers, x, cubes)
    expect_all(answer.backward_with_activations(layers, x, cubes), wanted, f"{CALL} with frozen layers")
    flags = [p.requires_grad for p in parameters(layers)]
    expect_equal(flags, [False, False, True, False], "requires_grad of the parameters afterwards")
    frozen = [layers[0].weight, layers[0].bias, layers[3].bias]
    expect_that(all(p.grad is None for p in frozen), f"a frozen parameter has a `.grad` after {CALL}")


@pytest.mark.fine
def test_inputs_that_are_a_leaf(answer, gen):
    """Inputs may be a leaf: its `.grad` is added to, and has no influence on what is returned."""
    layers, x = network(gen), torch.randn(4, 3, generator=gen).requires_grad_()
    wanted = exact(layers, x, cubes)
    x.grad = torch.full_like(x, 5.0)
    found = answer.backward_with_activations(layers, x, cubes)
    expect_all(found, wanted, f"{CALL}, where inputs has a `.grad`")
    expect_gradient(x.grad, wanted[0] + 5.0, "inputs, in `.grad` where 5 lay before", scale=10.0)
    expect_that(x.requires_grad, f"inputs requires no gradients after {CALL}, and did before")


@pytest.mark.fine
def test_inputs_that_were_computed(answer, gen):
    """Inputs may come from other operations: the gradient flows on to where these started."""
    layers, source = network(gen), torch.randn(4, 3, generator=gen).requires_grad_()
    x = source.sin()
    wanted = exact(layers, x, cubes)
    found = answer.backward_with_activations(layers, x, cubes)
    expect_all(found, wanted, f"{CALL} with computed inputs")
    onward = wanted[0] * source.detach().cos()
    expect_that(source.grad is not None, "no gradient flows on to what inputs was computed from")
    expect_gradient(source.grad, onward, "what inputs was computed from", scale=10.0)


@pytest.mark.fine
def test_no_graph(answer, gen):
    """The gradients carry no graph."""
    layers, source = network(gen), torch.randn(4, 3, generator=gen).requires_grad_()
    for x in (source.detach(), source, source * 2):
        found = answer.backward_with_activations(layers, x, cubes)
        flags = [g.requires_grad for g in found]
        expect_equal(flags, [False] * 5, f"requires_grad of the gradients from {CALL}")
        flags = {p.grad.requires_grad for p in parameters(layers)}
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


def oracle(answer, gen):
    def told(rows, loss_fn):
        layers, x = network(gen), torch.randn(rows, 3, generator=gen)
        found = answer.backward_with_activations(layers, x, loss_fn)
        return [list(found), [p.grad for p in parameters(layers)]]

    (five, own), (one, _), (other, _) = told(5, cubes), told(1, cubes), told(3, torch.sum)
    return {
        "five rows": five,
        "the gradients of the parameters": own,
        "a single row": one,
        "three rows, with another loss": other,
    }
