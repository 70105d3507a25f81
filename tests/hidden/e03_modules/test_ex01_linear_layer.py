"""What grades linear_layer: values and gradients, what is registered, how it starts, where it works."""

import functools
import math

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,  # fmt: skip
    expect_equal,
    expect_flat_cost,
    expect_that,
    forbid,
    peak_bytes,
    unchanged,
)
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import count_traffic, expect_no_traffic, is_simulated
from grader.checks.module_contract import (
    Case,  # fmt: skip
    expect_casts,
    expect_copies,
    expect_functional,
    expect_loads,
    expect_moves,
    expect_trains,
    in_evaluation,
)
from grader.checks.registered import expect_registered


def linear(state, x, bias=True):
    y = torch.einsum("...i,oi->...o", x, state["weight"])
    return y + state["bias"] if bias else y


def case(answer, gen, bias=True, sizes=(5, 4)):
    call = "Linear(4, 3)" if bias else "Linear(4, 3, bias=False)"
    return Case(
        lambda: answer.Linear(4, 3, bias=bias),
        [torch.randn(sizes, generator=gen)],
        lambda state, x: linear(state, x, bias),
        call,
    )


BOTH = pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])


@BOTH
def test_what_is_registered(answer, bias):
    """weight and bias are the parameters, in every size; without a bias, `bias` is None."""
    for inputs, outputs in [(4, 3), (1, 5), (2, 2), (6, 1)]:
        layer = answer.Linear(inputs, outputs, bias=bias)
        call = f"Linear({inputs}, {outputs}, bias={bias})"
        parameters = {"weight": (outputs, inputs)} | ({"bias": (outputs,)} if bias else {})
        expect_registered(layer, call, parameters=parameters)
        expect_that((layer.bias is None) is not bias, f"{call} has a wrong attribute bias", yours=layer.bias)
    call = f"Linear(4, 3, {bias}, 'meta', torch.float16)"
    layer = answer.Linear(4, 3, bias, "meta", torch.float16)
    facts = [layer.bias is not None, layer.weight.device.type, layer.weight.dtype]
    expect_equal(facts, [bias, "meta", torch.float16], f"(has a bias, device, dtype) of {call}")


@BOTH
def test_any_leading_dimensions(answer, gen, bias):
    """Values are right for any leading dimensions, also for none and for empty ones, strided or not."""
    layer = answer.Linear(4, 3, bias=bias)
    state = {name: p.detach() for name, p in layer.named_parameters()}
    for sizes in [
        (4,),
        (5, 4),
        (1, 4),
        (4, 4),
        (2, 5, 4),
        (2, 1, 3, 2, 4),
        (2051, 4),
        (0, 4),
        (2, 0, 4),
        (0, 2, 4),
    ]:
        x = torch.randn(sizes, generator=gen)
        wanted = linear(state, x, bias)
        with unchanged("layer(x)", x=x):
            y = layer(x)
        suspects = {"the bias is not added": functools.partial(linear, state, x, bias=False)}
        call, given = f"layer(x), x of shape {sizes}", {"x": x}
        expect_close(y.detach(), wanted, call, inputs=given, scale=4.0, suspects=suspects)
        with torch.no_grad(), unchanged("layer(x) under no_grad", x=x):
            y = layer(x)
        expect_close(y, wanted, f"layer(x) under no_grad, x of shape {sizes}", inputs={"x": x}, scale=4.0)
    for inputs, outputs in ((4, 1), (1, 3), (1, 1)):
        thin = answer.Linear(inputs, outputs, bias=bias)
        own = {name: p.detach() for name, p in thin.named_parameters()}
        for sizes in [(), (1,), (5,), (2, 3), (0,), (2, 0)]:
            x = torch.randn(*sizes, inputs, generator=gen)
            call = f"Linear({inputs}, {outputs})(x), x of shape {(*sizes, inputs)}"
            expect_close(thin(x).detach(), linear(own, x, bias), call, inputs={"x": x}, scale=4.0)
    lost = layer(torch.full((2, 4), math.nan)).detach()
    expect_that(bool(lost.isnan().all()), "layer(x) hides that x is NaN", yours=lost)
    for inputs, outputs in ((1500, 3), (3, 1500)):
        wide, x = answer.Linear(inputs, outputs, bias=bias), torch.randn(2, inputs, generator=gen)
        wanted = linear({name: p.detach().double() for name, p in wide.named_parameters()}, x.double(), bias)
        expect_close(wide(x).detach(), wanted.float(), f"Linear({inputs}, {outputs})(x)", scale=40.0)
    x = torch.randn(5, 2, 4, generator=gen).transpose(0, 1)
    expect_close(layer(x).detach(), linear(state, x, bias), "layer(x) of a strided x", scale=4.0)
    x = torch.randn(1, 4, generator=gen).expand(6, 4)
    expect_close(layer(x).detach(), linear(state, x, bias), "layer(x) of an expanded x", scale=4.0)


@BOTH
def test_values_and_gradients(answer, gen, bias):
    """Gradients of x, weight and bias are right, in both modes, whatever its parameters are."""
    expect_functional(case(answer, gen, bias, sizes=(2, 5, 4)), gen)
    expect_functional(in_evaluation(case(answer, gen, bias, sizes=(4,))), gen)


@BOTH
def test_gradients_of_frozen_layers_and_empty_batches(answer, gen, bias):
    """Gradients reach x through a frozen layer, and they are zeros where x has no positions."""
    layer, x = answer.Linear(4, 3, bias=bias), torch.randn(2, 4, generator=gen, requires_grad=True)
    empty = layer(torch.ones(0, 4))
    expect_that(empty.requires_grad, "layer(x) of an x without positions carries no graph", yours=empty)
    empty.sum().backward()
    for name, p in layer.named_parameters():
        expect_equal(p.grad, torch.zeros_like(p), f"the gradient of {name} from an x without positions")
    y = layer.requires_grad_(False)(x)
    expect_that(y.requires_grad, "no gradient reaches x through layer.requires_grad_(False)", yours=y)
    y.sum().backward()
    wanted = layer.weight.sum(0).expand(2, 4)
    expect_close(x.grad, wanted, "the gradient of x through layer.requires_grad_(False)", scale=4.0)


@BOTH
def test_training(answer, gen, bias):
    """Gradient descent moves weight and bias as it should."""
    expect_trains(case(answer, gen, bias), gen)


@BOTH
def test_loads_and_copies(answer, gen, bias):
    """A saved layer loads, into nn.Linear too, and a deep copy is a layer of its own."""
    judged = case(answer, gen, bias)
    expect_loads(judged, gen)
    expect_copies(judged, gen)
    layer, theirs = judged.make(), nn.Linear(4, 3, bias=bias)
    theirs.load_state_dict(layer.state_dict())
    expect_close(
        layer(judged.inputs[0]).detach(),
        theirs(judged.inputs[0]).detach(),
        "layer(x), compared with nn.Linear of the same state dict",
        scale=4.0,
    )


def test_replaced_parameters(answer, gen):
    """A weight that is replaced counts, and so does a bias that is replaced, taken away or added later."""
    layer, x = answer.Linear(4, 3), torch.randn(5, 4, generator=gen)
    layer.weight = nn.Parameter(torch.randn(3, 4, generator=gen))
    layer.bias = nn.Parameter(torch.randn(3, generator=gen))
    wanted = linear({"weight": layer.weight.detach(), "bias": layer.bias.detach()}, x)
    expect_close(layer(x).detach(), wanted, "layer(x) after its parameters were replaced", scale=4.0)
    weight = {"weight": layer.weight.detach()}
    layer.bias = None
    wanted = linear(weight, x, bias=False)
    expect_close(layer(x).detach(), wanted, "layer(x) after layer.bias = None", scale=4.0)
    layer = answer.Linear(in_features=4, out_features=3, bias=False)
    layer.bias = nn.Parameter(torch.randn(3, generator=gen))
    wanted = linear({name: p.detach() for name, p in layer.named_parameters()}, x)
    expect_close(layer(x).detach(), wanted, "layer(x), made without a bias, after it got one", scale=4.0)


@pytest.mark.parametrize("inputs", [1, 15, 400])
def test_start(answer, inputs):
    """Weights and biases start uniformly in ±1/√in_features, anew for each layer, from the global stream."""
    bound, outputs = 1 / math.sqrt(inputs), 1000
    torch.manual_seed(1)
    layer, other = answer.Linear(inputs, outputs), answer.Linear(inputs, outputs)
    torch.manual_seed(1)
    again = answer.Linear(inputs, outputs)
    for name, p in layer.named_parameters():
        numbers, call = p.detach().double().flatten(), f"{name} of Linear({inputs}, {outputs})"
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
        expect_that(numbers[:9999].unique().numel() > 0.9 * numbers[:9999].numel(), f"{call} repeats numbers")
        theirs, same = other.get_parameter(name), again.get_parameter(name)
        expect_that(not torch.equal(p, theirs), f"{call} is the same in two layers")
        expect_equal(same.detach(), p.detach(), f"{call} after the same seed")
    shared = float(torch.isin(layer.bias.detach(), layer.weight.detach()).double().mean())
    expect_that(shared < 0.5, f"the bias of Linear({inputs}, {outputs}) starts with numbers of its weight")


def test_device_and_dtype(answer, device):
    """device and dtype say where and as what the parameters are made, and nothing is moved there."""
    with count_traffic() as traffic:
        layer = answer.Linear(4, 3, device=device)
    for name, p in layer.named_parameters():
        expect_that(is_simulated(p), f"{name} of Linear(4, 3, device=device) is elsewhere", yours=p)
    expect_no_traffic(traffic, "Linear(4, 3, device=…)")
    meta = answer.Linear(4, 3, device="meta")
    expect_equal([p.device.type for p in meta.parameters()], ["meta", "meta"], 'Linear(4, 3, device="meta")')
    with torch.device("meta"):
        default, told = answer.Linear(4, 3), answer.Linear(4, 3, device="cpu")
    kinds = [p.device.type for p in (*default.parameters(), *told.parameters())]
    expect_equal(
        kinds, ["meta", "meta", "cpu", "cpu"], 'Linear(4, 3) and Linear(4, 3, device="cpu") under "meta"'
    )
    for dtype in (torch.float64, torch.bfloat16):
        layer = answer.Linear(4, 3, dtype=dtype)
        parameters = {"weight": (3, 4), "bias": (3,)}
        expect_registered(layer, f"Linear(4, 3, dtype={dtype})", parameters=parameters, dtype=dtype)
    for name, p in answer.Linear(4, 3, dtype=torch.float64).named_parameters():
        expect_that(
            not torch.equal(p, p.float().double()),
            f"the {name} of Linear(4, 3, dtype=torch.float64) has only the digits of float32: it was cast",
        )
    with default_dtype(torch.float64):
        layer = answer.Linear(4, 3)
    call = "Linear(4, 3) while the default dtype is float64"
    expect_registered(layer, call, parameters={"weight": (3, 4), "bias": (3,)}, dtype=torch.float64)


@BOTH
def test_moves_and_casts(answer, device, gen, bias):
    """A layer inside a model moves and casts with it, and then works there."""
    judged = case(answer, gen, bias, sizes=(2, 5, 4))
    expect_moves(judged, device, gen)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        expect_casts(judged, dtype, gen, ulps=8.0 if dtype.itemsize == 2 else None)


def test_cost(answer, gen):
    """No loop over positions or features, and no memory for every single product."""
    for over, make in {
        "rows": lambda n: (answer.Linear(4, 3), torch.ones(n, n, 4)),
        "each of three leading dimensions": lambda n: (answer.Linear(4, 3), torch.ones(n, n, n, 4)),
        "out_features": lambda n: (answer.Linear(4, n), torch.ones(5, 4)),
        "in_features": lambda n: (answer.Linear(n, 3), torch.ones(5, n)),
    }.items():

        def prepare(n, make=make):
            layer, x = make(n)
            return lambda: layer(x)

        expect_flat_cost(prepare, "layer(x)", over=over)
    for sizes in [(50,), ()]:
        layer, x = answer.Linear(32, 40), torch.ones(*sizes, 32)
        peak, all_products = peak_bytes(lambda: layer(x)), x.numel() * 40 * 4  # noqa: B023
        expect_that(
            peak < all_products / 2,
            "layer(x) makes room for every single product",
            yours=f"{peak} bytes for x {(*sizes, 32)} and y {(*sizes, 40)}",
            wanted=f"far less than the {all_products} bytes of {(*sizes, 40, 32)} numbers",
        )


@BOTH
def test_own_computation(answer, bias):
    """The layer is neither nn.Linear nor made of it."""
    with forbid("layer(x)", "linear", "bilinear"):
        layer = answer.Linear(4, 3, bias=bias)
        layer(torch.ones(5, 4))
        layer(torch.ones(4))
    inside = [m for m in layer.modules() if isinstance(m, (nn.Linear, nn.Bilinear))]
    expect_equal(len(inside), 0, "the number of nn.Linear in your layer, itself included")


def oracle(answer, gen):
    results = []
    for bias in (True, False):
        layer = answer.Linear(5, 3, bias=bias, dtype=torch.float64)
        results.append([[name, list(p.shape)] for name, p in sorted(layer.named_parameters())])
        with torch.no_grad():
            for _, p in sorted(layer.named_parameters()):
                p.copy_(torch.randn(p.shape, generator=gen))
        x = torch.randn(2, 4, 5, generator=gen, dtype=torch.float64, requires_grad=True)
        y = layer(x)
        y.backward(torch.randn(y.shape, generator=gen, dtype=torch.float64))
        results += [y.detach(), x.grad, *(p.grad for _, p in sorted(layer.named_parameters()))]
    return results
