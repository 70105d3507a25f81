"""What grades backward_with_activations: each gradient, any kind of inputs, parameters, later calls."""

import contextlib
import math

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_raises,
    expect_that,
    hooks_of,
    unchanged,
)

CALL = "backward_with_activations(…)"  # leaves room for what comes behind


def network(gen, dtype=torch.float64):
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_each_activation(answer, gen, dtype):
    """The gradient at each activation is right, for modules and for plain functions."""
    for size in (5, 1):
        layers, x = network(gen, dtype), torch.randn(size, 3, generator=gen, dtype=torch.float64).to(dtype)
        wanted = exact(layers, x, cubes)
        expect_all(answer.backward_with_activations(layers, x, cubes), wanted)
        layers = [*layers[:2], layers[1], *layers[2:], layers[1]]
        wanted, found = exact(layers, x, cubes), answer.backward_with_activations(layers, x, cubes)
        expect_all(found, wanted, f"{CALL} with one and the same layer in three places")
    found = answer.backward_with_activations(
        [torch.sqrt, lambda h: h * 2], torch.tensor([0.0, -1.0], dtype=dtype), torch.sum
    )
    expect_equal(
        [g.tolist() for g in found],
        [[math.inf, math.nan], [2.0] * 2, [1.0] * 2],
        f"{CALL} of [sqrt, double] at 0 and -1, where the gradients are inf and NaN",
    )


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


def test_single_numbers_and_empty_inputs(answer, gen):
    """Inputs may be a single number, or empty."""
    number = torch.randn((), generator=gen, dtype=torch.float64)
    empty = torch.zeros(0, 3, dtype=torch.float64)
    for x, layers, about in [
        (number, [torch.sin, torch.exp], "of shape ()"),
        (number, [], "of shape (), without layers"),
        (empty, [torch.sin, lambda h: h.sum(1), lambda h: h.sum() + 1], "of shape (0, 3)"),
    ]:
        for start in (x, x.clone().requires_grad_(), x.clone().requires_grad_() * 2):
            wanted = exact(layers, start, lambda h: h * 2)
            found = answer.backward_with_activations(layers, start, lambda h: h * 2)
            expect_all(found, wanted, f"{CALL}, inputs {about}")


def test_strided_and_expanded_inputs(answer, gen):
    """Inputs may be transposed, cut out or expanded: each entry has a gradient of its own."""
    table = torch.randn(6, 4, generator=gen, dtype=torch.float64)
    row = torch.randn(1, 3, generator=gen, dtype=torch.float64)
    for x in (table.t()[:, ::2], row.expand(5, 3)):
        layers = network(gen)
        wanted = exact(layers, x, cubes)
        with unchanged(f"{CALL} of strided inputs", inputs=x):
            found = answer.backward_with_activations(layers, x, cubes)
        expect_all(found, wanted, f"{CALL} of strided inputs")


def test_no_layers_and_idle_layers(answer, gen):
    """There may be no layers, and a layer may return its input as it is."""
    x = torch.randn(4, 2, generator=gen, dtype=torch.float64)
    for layers in ([], [nn.Identity()], [torch.tanh, nn.Identity(), lambda h: h, torch.exp]):
        wanted = exact(layers, x, cubes)
        found = answer.backward_with_activations(layers, x, cubes)
        expect_all(found, wanted, f"{CALL} with {len(layers)} layers, some of them idle")
    leaf, weight = x.clone().requires_grad_(), torch.ones(2, dtype=torch.float64, requires_grad=True)
    answer.backward_with_activations([], leaf, lambda h: (h * weight).sum())
    call = f"{CALL} without layers"
    expect_gradient(leaf.grad, torch.ones_like(x), f"inputs, a leaf, in `.grad` after {call}")
    expect_gradient(weight.grad, x.sum(0), f"a parameter of loss_fn, in `.grad` after {call}", scale=10.0)


def test_inputs_without_gradients(answer, gen):
    """Inputs that require no gradients are left as they were: values, requires_grad and `.grad`."""
    x, layers = torch.randn(4, 3, generator=gen, dtype=torch.float64), network(gen)
    with unchanged(CALL, inputs=x):
        answer.backward_with_activations(layers, x, cubes)
    expect_that(x.grad is None, f"inputs that require no gradients have a `.grad` after {CALL}")

    def failing(h):
        raise ArithmeticError("no activations here")

    def failing_backward(h):
        out = h * 2
        out.register_hook(failing)
        return out

    for some, loss_fn, who in (
        ([*layers, failing], cubes, "a layer"),
        (layers, failing, "loss_fn"),
        ([failing_backward, *layers], cubes, "a layer, in its backward,"),
    ):
        call = f"{CALL}, where {who} raises an error,"
        with unchanged(call, inputs=x), contextlib.suppress(ArithmeticError):
            answer.backward_with_activations(some, x, loss_fn)
        expect_that(x.grad is None, f"inputs that require no gradients have a `.grad` after {call}")


def test_frozen_layers(answer, gen):
    """Through frozen layers the gradients are the same, and the frozen parameters get none."""
    layers, x = network(gen), torch.randn(4, 3, generator=gen, dtype=torch.float64)
    layers[0].requires_grad_(False)
    layers[3].bias.requires_grad_(False)
    wanted = exact(layers, x, cubes)
    expect_all(answer.backward_with_activations(layers, x, cubes), wanted, f"{CALL} with frozen layers")
    flags = [p.requires_grad for p in parameters(layers)]
    expect_equal(flags, [False, False, True, False], "requires_grad of the parameters afterwards")
    frozen = [layers[0].weight, layers[0].bias, layers[3].bias]
    expect_that(all(p.grad is None for p in frozen), f"a frozen parameter has a `.grad` after {CALL}")


def test_parameters_accumulate(answer, gen):
    """Each parameter has its gradient added to what is in `.grad`, once, as by loss.backward()."""
    layers, x = network(gen), torch.randn(4, 3, generator=gen, dtype=torch.float64)
    layers.insert(1, nn.Linear(4, 4).double())
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
    weight = torch.tensor([0.5, -0.5], dtype=torch.float64, requires_grad=True)
    gain = weight.exp()  # whose graph can be walked once
    call = f"{CALL} of two layers that multiply by the same exp(weight)"
    answer.backward_with_activations([lambda h: h * gain] * 2, torch.ones_like(gain), torch.sum)
    expect_gradient(weight.grad, 2 * gain.detach() ** 2, f"weight, in `.grad` after {call}")


def test_inputs_that_are_a_leaf(answer, gen):
    """Inputs may be a leaf: its `.grad` is added to, and has no influence on what is returned."""
    layers = network(gen)
    x = torch.randn(4, 3, generator=gen, dtype=torch.float64).requires_grad_()
    wanted = exact(layers, x, cubes)
    x.grad = torch.full_like(x, 5e9)  # next to it, small numbers lose their digits
    hooked = []
    x.register_hook(lambda gradient: hooked.append(gradient.shape))
    found = answer.backward_with_activations(layers, x, cubes)
    expect_all(found, wanted, f"{CALL}, where inputs has a `.grad`")
    expect_gradient(x.grad, wanted[0] + 5e9, "inputs, in `.grad` where 5e9 lay before")
    expect_equal(len(hooked), 1, f"how often a hook on inputs, a leaf, is called in {CALL}")
    expect_equal(len(hooks_of(x)), 1, f"the number of hooks on inputs, where one was before {CALL}")
    expect_equal(
        (x.requires_grad, x.is_leaf), (True, True), f"(requires_grad, is_leaf) of inputs after {CALL}"
    )
    kept = x.grad.clone()
    with contextlib.suppress(ZeroDivisionError):
        answer.backward_with_activations(layers, x, lambda h: 1 / 0)
    call = f"the `.grad` of inputs, a leaf, after {CALL}, where loss_fn raises an error"
    expect_that(x.grad is not None, f"{call}, is gone")
    expect_equal(x.grad, kept, call)


def test_inputs_that_were_computed(answer, gen):
    """Inputs may come from other operations: the gradient flows on to where these started."""
    layers, source = network(gen), torch.randn(4, 3, generator=gen, dtype=torch.float64).requires_grad_()
    for number in (1, 2):
        x = source.sin()
        wanted = exact(layers, x, cubes)
        found = answer.backward_with_activations(layers, x, cubes)
        expect_all(found, wanted, f"{CALL} with computed inputs")
        onward = number * wanted[0] * source.detach().cos()
        expect_gradient(
            source.grad, onward, f"what inputs was computed from, after {number} calls", scale=10.0
        )
        expect_that(not hooks_of(x), f"a hook on inputs, which was computed, stays after {CALL}")
        expect_that(not x.retains_grad, f"inputs, computed before, keeps a `.grad` of its own after {CALL}")
        again = f"inputs.sum().backward() after {CALL}, which frees the graph of computed inputs"
        expect_raises(RuntimeError, lambda x=x: x.sum().backward(), again)


def test_call_after_call(answer, gen):
    """Each call reports its own gradients, also for the same inputs and layers."""
    layers, source = network(gen), torch.randn(4, 3, generator=gen, dtype=torch.float64).requires_grad_()
    plain = source.detach().clone()
    for x in (plain, source, source + source):  # an addition saves nothing: it can be walked again
        wanted = exact(layers, x, cubes)
        other = exact(layers, x, torch.sum)
        expect_all(answer.backward_with_activations(layers, x, cubes), wanted, f"the first of three {CALL}")
        found = answer.backward_with_activations(layers, x, torch.sum)
        expect_all(found, other, f"the second of three {CALL}")
        expect_all(answer.backward_with_activations(layers, x, cubes), wanted, f"the third of three {CALL}")


def test_lists_do_not_change_later(answer, gen):
    """A list that was returned stays as it is in further calls, and when `.grad` is written to."""
    layers, source = network(gen), torch.randn(4, 3, generator=gen, dtype=torch.float64).requires_grad_()
    bias = torch.zeros(4, 2, dtype=torch.float64, requires_grad=True)
    layers.append(lambda h: h + bias)  # bias and both activations have one and the same gradient
    for x in (source.detach().clone(), source, source + source):
        wanted = exact(layers, x, cubes)
        found = answer.backward_with_activations(layers, x, cubes)
        answer.backward_with_activations(layers, x, torch.sum)
        for p in (source, bias, *parameters(layers)):
            if p.grad is not None:
                p.grad.fill_(7.0)
        expect_all(found, wanted, f"{CALL}, looked at again after another call")


def test_no_graph(answer, gen):
    """The gradients carry no graph."""
    layers, source = network(gen), torch.randn(4, 3, generator=gen, dtype=torch.float64).requires_grad_()
    for x in (source.detach(), source, source * 2):
        found = answer.backward_with_activations(layers, x, cubes)
        flags = [g.requires_grad for g in found]
        expect_equal(flags, [False] * 5, f"requires_grad of the gradients from {CALL}")
        flags = {p.grad.requires_grad for p in parameters(layers)}
        expect_equal(flags, {False}, f"requires_grad of the `.grad` of the parameters after {CALL}")


def test_runs_once(answer, gen):
    """Layers and loss run once and the backward walks through each of them once."""
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
    ran.clear()
    answer.backward_with_activations([], torch.ones(3), loss_fn)
    expect_equal(ran, ["loss"], "what runs forward without layers")
    module = nn.Dropout(0.5).eval()
    module.register_forward_hook(lambda module, given, out: out * 3)
    found = answer.backward_with_activations([module], torch.ones(2), torch.sum)
    expect_equal(
        found[0],
        torch.full((2,), 3.0),
        "the gradient at inputs, where a hook on the layer, a dropout in evaluation mode, multiplies by 3",
    )
    expect_equal(len(hooks_of(module)), 1, f"the number of hooks on a layer, where one was before {CALL}")
    expect_equal(module.training, False, f"layer.training after {CALL} of a layer in evaluation mode")
    expect_equal(walked, ["b", "a"], "what the backward walks through")


def oracle(answer, gen):
    layers, source = network(gen), torch.randn(4, 3, generator=gen, dtype=torch.float64).requires_grad_()
    plain = source.detach().clone()
    found = [answer.backward_with_activations(layers, x, cubes) for x in (plain, source, source * 2)]
    kept = [list(gradients) for gradients in found]
    return [*kept, [p.grad for p in parameters(layers)], source.grad, plain.requires_grad, plain.grad is None]
