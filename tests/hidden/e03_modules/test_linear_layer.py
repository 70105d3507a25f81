"""What grades linear_layer: values, gradients, loading, a random start; where and as what it is made."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    layer,
    loads,
    registered,
    values,
    without,
)
from grader.checks.devices import is_simulated
from grader.checks.registered import expect_registered


def linear(state, x, bias=True):
    y = torch.einsum("...i,oi->...o", x, state["weight"])
    return y + state["bias"] if bias else y


def rows(gen, *leading, inputs=4, outputs=3, bias=True):
    shapes = {"weight": (outputs, inputs)} | ({"bias": (outputs,)} if bias else {})
    state = {name: torch.randn(shape, generator=gen) for name, shape in shapes.items()}
    return layer(inputs, outputs, state=state, bias=bias)(torch.randn(*leading, inputs, generator=gen))


def one_bias_less(gen):
    return {
        "rows, without a bias": rows(gen, 5, bias=False),
        "sequences, without a bias": rows(gen, 2, 5, bias=False),
    }


contract = Contract(
    "Linear(in_features, out_features)(x)",
    reference=linear,
    inputs=lambda gen: {
        "one row": rows(gen),
        "rows": rows(gen, 5, inputs=2, outputs=5),
        "rows, with as many outputs as inputs": rows(gen, 4, outputs=4),
        "sequences": rows(gen, 2, 5),
        "four leading dimensions": rows(gen, 2, 3, 2, 4, outputs=4),
        "rows, without a bias": rows(gen, 5, bias=False),
    },
    gradient="x weight bias",
    scale=10.0,
    suspects={
        "the product is with the weight as it is, not transposed": lambda state, x, *more, bias=True: linear(
            {**state, "weight": state["weight"].T}, x, *more, bias=bias
        ),
        "the bias is not added": lambda state, x, *more, bias=True: linear(state, x, bias=False),
    },
    job=[
        values(inputs=one_bias_less, name="without_a_bias", title="Without a bias, the weight is all."),
        registered(inputs=one_bias_less, name="registered_without_a_bias", title="bias=False makes no bias."),
        loads(title="Saved and loaded, the layer computes with what was loaded."),
        *(
            flat_cost(make, over=over, name=f"no_loop_over_{over}")
            for over, make in {
                "rows": lambda n: layer(4, 3)(torch.ones(n, n, 4)),
                "out_features": lambda n: layer(4, n)(torch.ones(5, 4)),
                "in_features": lambda n: layer(n, 3)(torch.ones(5, n)),
            }.items()
        ),
        without(*("linear", "bilinear"), title="The layer is not made of nn.Linear or F.linear."),
    ],
    fine=[
        empties(
            inputs=lambda gen: {f"{sizes} leading": rows(gen, *sizes) for sizes in [(0,), (2, 0), (0, 3)]},
            title="Leading dimensions may be 0.",
        ),
        dtypes(torch.float64, title="A layer that was cast works in its new dtype."),
        dtypes(torch.float16, ulps=8.0, name="float16", title="So does one in float16."),
        device(title="A layer that was moved works there, without a copy to or from the CPU."),
    ],
)


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
