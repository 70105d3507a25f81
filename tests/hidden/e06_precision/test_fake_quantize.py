"""What grades fake_quantize: steps, gradients, the layer; borders, half precision, zeros, devices."""

from functools import partial

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_gradient, expect_that
from grader.checks.contract import Contract, device, dtypes, given, layer, registered, untouched

CALL = "fake_quantize(x, scale, zero_point, low, high)"


def faked(x, scale, zero_point=0, low=-128, high=127, how=torch.round, slope=None):
    """What comes after `high` is as people get it wrong."""
    whole = how(x.detach() / scale) + zero_point
    values = (whole.clamp(low, high) - zero_point) * scale
    soft = x * ((whole >= low) & (whole <= high)) if slope is None else slope(x, scale)
    return soft + (values - soft).detach()


def both(function):
    """The values, and the gradient of a weighted sum of them."""

    def differentiated(x, *more, **options):
        weight = 0.5 + x.detach().flatten().roll(1).reshape(x.shape).abs()
        x = x.detach().requires_grad_()
        y = function(x, *more, **options)
        grad = torch.autograd.grad(y, x, weight)[0] if y.requires_grad else torch.zeros_like(x)
        return {"values": y.detach(), "gradient": grad}

    return differentiated


def near(gen, *shape, scale, zero_point=0, low=-128, high=127, beyond=4):
    """Numbers around whole steps from a bit below low to a bit above high, never halfway between two."""
    whole = torch.randint(low - beyond, high + beyond + 1, shape, generator=gen) - zero_point
    far = torch.tensor([low - 3, high + 3, low - 300, high + 300])
    whole.view(-1)[:4] = far - zero_point
    x = (whole + 0.8 * (torch.rand(shape, generator=gen) - 0.5)) * scale
    return given(x, scale, zero_point, low=low, high=high)


def rows(gen, *shape):
    return 0.02 + 0.1 * torch.rand(shape, generator=gen)


def steps(gen):
    return {
        "four bits": near(gen, 4, 6, scale=0.25, low=-8, high=7),
        "unsigned, with a zero_point": near(gen, 30, scale=0.1, zero_point=5, low=0, high=15),
        "a scale for each row": near(gen, 3, 8, scale=rows(gen, 3, 1), low=-4, high=3),
        "eight bits, zero_point=-20": near(gen, 5, 6, scale=2.0, zero_point=-20, beyond=60),
    }


without_range = partial(faked, low=-1e9, high=1e9)


contract = Contract(
    CALL,
    reference=both(faked),
    use=lambda answer, *call, **options: both(answer.fake_quantize)(*call, **options),
    inputs=steps,
    suspects={
        words: both(function)
        for words, function in {
            "gradients pass beyond low and high as well": partial(faked, slope=lambda x, scale: x),
            "nothing is clamped to low and high": lambda x, scale, zero_point=0, **_: without_range(x, scale),
            "zero_point is left out": lambda x, scale, zero_point=0, **options: faked(x, scale, **options),
            "zero_point is not taken off again": lambda x, scale, zero_point=0, **options: (
                faked(x, scale, zero_point, **options) + zero_point * scale
            ),
            "numbers are rounded down": partial(faked, how=torch.floor),
            "numbers are rounded toward 0": partial(faked, how=torch.trunc),
            "low and high are left out: -128 to 127": lambda x, scale, zero_point=0, **_: faked(
                x, scale, zero_point
            ),
        }.items()
    },
    fine=[
        dtypes(
            *(torch.float64, torch.bfloat16, torch.float16),
            of="x",
            inputs=lambda gen: [near(gen, 7, scale=0.25, low=-8, high=7)],
            title="The result has x's dtype.",
        ),
        untouched(),
        device(),
    ],
)


def linear(state, x, bits=8, dim=1, gradient=True):
    weight, high = state["weight"], 2 ** (bits - 1) - 1
    absolute = weight.detach().abs()
    scale = (absolute.max() if dim is None else absolute.amax(dim, keepdim=True)) / high
    values = (weight.detach() / scale).round() * scale
    return F.linear(x, weight + (values - weight).detach() if gradient else values, state.get("bias"))


def built(gen, outputs, inputs, *leading, bits=8, bias=True):
    """A layer whose weight is around whole steps, each row in steps of its own."""
    high = 2 ** (bits - 1) - 1
    whole = torch.randint(-high + 1, high, (outputs, inputs), generator=gen)
    apart = 0.6 * (torch.rand(outputs, inputs, generator=gen) - 0.5)
    apart[:, 0], whole[:, 0] = 0.0, high * (2 * torch.randint(0, 2, (outputs,), generator=gen) - 1)
    state = {"weight": (whole + apart) * rows(gen, outputs, 1)}
    if bias:
        state["bias"] = torch.randn(outputs, generator=gen)
    x = torch.randn(*leading, inputs, generator=gen)
    return layer(inputs, outputs, bias, bits=bits, state=state)(x)


quant_linear = Contract(
    "QuantLinear(in_features, out_features, bias)(x)",
    reference=linear,
    inputs=lambda gen: {
        "four bits": built(gen, 4, 6, 5, bits=4),
        "eight bits, sequences": built(gen, 3, 5, 2, 4),
        "three bits without bias": built(gen, 5, 5, 3, bits=3, bias=False),
    },
    gradient="x state",
    scale=20.0,
    suspects={
        "the weight is not quantized": lambda state, x, **_: F.linear(x, state["weight"], state.get("bias")),
        "one scale serves all rows": lambda state, x, **options: linear(state, x, dim=None, **options),
        "the scales are those of columns": lambda state, x, **options: linear(state, x, dim=0, **options),
        "bits are left out": lambda state, x, **_: linear(state, x),
    },
    job=[registered()],
    fine=[device(name="device")],
)


@pytest.mark.fine
def test_borders(answer):
    """Halves go to the even number before zero_point is added, and gradients pass at low and high."""
    x = torch.tensor([0.5, 1.5, 2.5, -0.5, 3.0, -4.25, 3.25, 3.75], requires_grad=True)
    yours = answer.fake_quantize(x, 1.0, 1, low=-3, high=4)
    wanted = torch.tensor([0.0, 2.0, 2.0, 0.0, 3.0, -4.0, 3.0, 3.0])
    call = "fake_quantize(x, 1.0, 1, low=-3, high=4)"
    expect_equal(yours.detach() + 0.0, wanted, f"{call}, x = {x.tolist()}")
    yours.sum().backward()
    wanted = torch.tensor([1.0] * 7 + [0.0])
    expect_gradient(x.grad, wanted, f"x through {call}, x = {x.tolist()}")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """Half precision is fake-quantized in float32."""
    x = (40 * torch.rand(200, generator=gen) - 20).to(dtype)
    scale = 0.1 + 0.05 * torch.rand((), generator=gen)
    wanted = faked(x.double(), scale.double()).to(dtype)
    yours = answer.fake_quantize(x, scale)
    expect_close(yours, wanted, f"fake_quantize(x, scale) in {dtype}", ulps=2, scale=0.01)


@pytest.mark.fine
def test_zeros(answer, gen):
    """A row of zeros stays zero, without NaN in its gradient."""
    made = answer.QuantLinear(3, 2, bits=4)
    with torch.no_grad():
        made.weight.copy_(torch.tensor([[0.0, 0.0, 0.0], [0.7, -0.3, 0.2]]))
        made.bias.zero_()
    x = torch.randn(4, 3, generator=gen)
    yours = made(x)
    expect_equal(yours[:, 0].detach() + 0.0, torch.zeros(4), "QuantLinear(x) for a row of zeros")
    yours.sum().backward()
    expect_that(bool(made.weight.grad.isfinite().all()), "a gradient is no number", yours=made.weight.grad)
