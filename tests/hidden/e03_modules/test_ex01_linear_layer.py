"""What grades linear_layer: values, gradients, loading, a random start; where and as what it is made."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_flat_cost, expect_that, forbid
from grader.checks.devices import is_simulated
from grader.checks.module_contract import (
    Case,
    expect_casts,
    expect_functional,
    expect_loads,
    expect_moves,
    expect_trains,
)
from grader.checks.registered import expect_registered, randomize, state_of


def linear(state, x, bias=True):
    y = torch.einsum("...i,oi->...o", x, state["weight"])
    return y + state["bias"] if bias else y


def case(answer, gen, bias=True):
    return Case(
        lambda: answer.Linear(4, 3, bias=bias),
        [torch.randn(2, 5, 4, generator=gen)],
        lambda state, x: linear(state, x, bias),
        "Linear(4, 3)" if bias else "Linear(4, 3, bias=False)",
    )


def expect_values(answer, gen, features, sizes, bias=True):
    inputs, outputs = features
    layer = answer.Linear(inputs, outputs, bias=bias)
    randomize(layer, gen)
    state = state_of(layer)
    for leading in sizes:
        x = torch.randn(*leading, inputs, generator=gen)
        suspects = {
            "the product is with the weight as it is, not transposed": lambda x=x: x @ state["weight"]
        }
        if bias:
            suspects["the bias is not added"] = lambda x=x: linear(state, x, bias=False)
        call = f"Linear({inputs}, {outputs}, bias={bias})(x), x of shape {tuple(x.shape)}"
        expect_close(
            layer(x).detach(),
            linear(state, x, bias),
            call,
            inputs={"x": x},
            scale=10.0,
            suspects=suspects if inputs == outputs or not x.numel() else dict(list(suspects.items())[1:]),
        )


@pytest.mark.parametrize("features", [(4, 4), (4, 3), (2, 5)], ids=str)
def test_values(answer, gen, features):
    """Each output is a weighted sum of the last dimension plus its bias, for any leading dimensions."""
    expect_values(answer, gen, features, [(), (5,), (4,), (2, 5), (2, 3, 2, 4)])


def test_without_a_bias(answer, gen):
    """With bias=False the weight is all there is."""
    expect_registered(
        answer.Linear(4, 3, bias=False), "Linear(4, 3, bias=False)", parameters={"weight": (3, 4)}
    )
    expect_values(answer, gen, (4, 3), [(5,), (2, 5)], bias=False)


def test_gradients(answer, gen):
    """Gradients of x, weight and bias are right."""
    expect_functional(case(answer, gen), gen)


def test_trains_and_loads(answer, gen):
    """Training and loading move what forward uses."""
    expect_trains(case(answer, gen), gen)
    expect_loads(case(answer, gen), gen)


def test_starts_at_random(answer):
    """The weights start at random: other numbers for each output, and in each layer."""
    weight, other = (answer.Linear(6, 4).weight.detach() for _ in range(2))
    expect_that(
        not bool((weight == weight[0, 0]).all()), "all weights of Linear(6, 4) start alike", yours=weight
    )
    expect_that(
        not any(torch.equal(weight[0], row) for row in weight[1:]),
        "the weights of two outputs start alike, so both would learn the same",
        yours=weight,
    )
    expect_that(not torch.equal(weight, other), "two layers start with the same weights", yours=weight)


def test_no_loop(answer):
    """There is no loop over positions or features."""
    for over, make in {
        "rows": lambda n: (answer.Linear(4, 3), torch.ones(n, n, 4)),
        "out_features": lambda n: (answer.Linear(4, n), torch.ones(5, 4)),
        "in_features": lambda n: (answer.Linear(n, 3), torch.ones(5, n)),
    }.items():

        def prepare(n, make=make):
            layer, x = make(n)
            return lambda: layer(x)

        expect_flat_cost(prepare, "layer(x)", over=over)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_own_computation(answer, bias):
    """The layer is not made of nn.Linear or F.linear."""
    with forbid("layer(x)", "linear", "bilinear"):
        layer = answer.Linear(4, 3, bias=bias)
        layer(torch.ones(5, 4))
        layer(torch.ones(4))
    inside = [m for m in layer.modules() if isinstance(m, torch.nn.Linear)]
    expect_that(not inside, "your layer is an nn.Linear, or contains one", yours=inside[:1])


@pytest.mark.fine
@pytest.mark.parametrize("inputs", [15, 400])
def test_uniform_start(answer, inputs):
    """Weight and bias start uniformly in ±1/√in_features."""
    bound = 1 / math.sqrt(inputs)
    for name, p in answer.Linear(inputs, 1000).named_parameters():
        numbers, call = p.detach().double().flatten(), f"{name} of Linear({inputs}, 1000)"
        expect_that(
            float(numbers.abs().max()) <= bound * (1 + 1e-6),
            f"{call} starts outside of ±1/√in_features",
            yours=f"up to {float(numbers.abs().max()):.4f}",
            wanted=f"up to {bound:.4f}",
        )
        quarters = torch.histc(numbers, 4, -bound, bound) / numbers.numel()
        expect_that(
            bool(((quarters - 0.25).abs() < 0.08).all()),
            f"{call} does not start uniformly in ±1/√in_features",
            yours=f"{[round(q, 3) for q in quarters.tolist()]} of the numbers in each quarter",
            wanted="about 0.25 in each",
        )


@pytest.mark.fine
def test_global_stream(answer):
    """The same seed gives the same layer."""
    layers = []
    for _ in range(2):
        torch.manual_seed(1)
        layers.append(answer.Linear(5, 3))
    expect_equal(layers[1].weight.detach(), layers[0].weight.detach(), "the weight after the same seed")
    expect_equal(layers[1].bias.detach(), layers[0].bias.detach(), "the bias after the same seed")


@pytest.mark.fine
def test_device_and_dtype(answer, device):
    """Parameters are made where and as what `device` and `dtype` say, and are parameters then too."""
    layer = answer.Linear(4, 3, device=device, dtype=torch.float64)
    call = "Linear(4, 3, device=device, dtype=torch.float64)"
    expect_registered(layer, call, parameters={"weight": (3, 4), "bias": (3,)}, dtype=torch.float64)
    for name, p in layer.named_parameters():
        expect_that(is_simulated(p), f"{name} of {call} is not on that device", yours=p)


@pytest.mark.fine
def test_attribute_without_a_bias(answer):
    """With bias=False, layer.bias is None."""
    layer = answer.Linear(4, 3, bias=False)
    has = hasattr(layer, "bias")
    expect_that(has, "Linear(4, 3, bias=False) has no attribute bias: it should be None")
    expect_that(layer.bias is None, "Linear(4, 3, bias=False).bias is not None", yours=layer.bias)


@pytest.mark.fine
def test_empty(answer, gen):
    """Leading dimensions may be 0."""
    expect_values(answer, gen, (4, 3), [(0,), (2, 0), (0, 3)])


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
def test_casts(answer, gen, dtype):
    """A layer that was cast works in its new dtype."""
    for bias in (True, False):
        expect_casts(case(answer, gen, bias), dtype, gen, ulps=8.0 if dtype.itemsize == 2 else None)


@pytest.mark.fine
def test_moves(answer, device, gen):
    """A layer that was moved works there, without a copy to or from the CPU."""
    expect_moves(case(answer, gen), device, gen)


def oracle(answer, gen):
    cases = {}
    for name, bias, sizes in [
        ("rows", True, (4, 5)),
        ("two leading dimensions", True, (2, 3, 5)),
        ("without a bias", False, (4, 5)),
    ]:
        layer = answer.Linear(5, 3, bias=bias)
        with torch.no_grad():
            for _, p in sorted(layer.named_parameters()):  # in whatever order they were registered
                p.copy_(torch.randn(p.shape, generator=gen))
        x = torch.randn(sizes, generator=gen, requires_grad=True)
        y = layer(x)
        y.backward(torch.randn(y.shape, generator=gen))
        gradients = {name: p.grad for name, p in sorted(layer.named_parameters())}
        cases[name] = y.detach()
        cases[f"{name}: gradients"] = {"x": x.grad, **gradients}
    return cases
