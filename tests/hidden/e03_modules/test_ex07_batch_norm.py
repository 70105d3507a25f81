"""What grades batch_norm: both modes, running statistics, gradients; precision, updates in place, errors."""

import pytest
import torch
from torch.func import functional_call
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    forbid,
    unchanged,
)
from grader.checks.module_contract import Case, expect_loads, expect_moves
from grader.checks.registered import randomize, state_of

SHAPES = [(7, 3), (3, 3), (4, 3, 5), (1, 3, 4), (2, 3, 4, 5)]
OWN = (
    "batch_norm", "native_batch_norm", "native_batch_norm_legit", "batch_norm_stats", "instance_norm",
    "group_norm", "native_group_norm", "layer_norm", "native_layer_norm",
)  # fmt: skip


def trained(x, weight, bias, eps=1e-5):
    return F.batch_norm(x, None, None, weight, bias, training=True, eps=eps)


def predicted(state, x, eps=1e-5):
    mean, var = state["running_mean"], state["running_var"]
    return F.batch_norm(x, mean, var, state["weight"], state["bias"], training=False, eps=eps)


def filled(answer, gen, features=3, **options):
    layer = answer.BatchNorm(features, **options)
    randomize(layer, gen)
    with torch.no_grad():
        layer.running_var.copy_(layer.running_var.abs() + 0.5)
    return layer


def double(layer):
    return {name: t.double() for name, t in state_of(layer).items()}


def mistakes(state, x, eps):
    """What people get wrong in training mode, and what it gives."""

    def given(dims, correction=0, inside=eps, after=0.0):
        def make():
            column = (-1, *[1] * (x.dim() - 2))
            var = x.var(dims, correction=correction, keepdim=True)
            y = (x - x.mean(dims, keepdim=True)) / ((var + inside).sqrt() + after)
            return y * state["weight"].view(column) + state["bias"].view(column)

        return make

    every = [0, *range(2, x.dim())]
    return {
        "the unbiased variance normalises: it is for running_var alone": given(every, correction=1),
        "eps is added to the deviation, not to the variance": given(every, inside=0.0, after=eps),
        "1e-5 is added to the variance, not the eps of the layer": given(every, inside=1e-5),
        "statistics are taken over the rows alone: every dimension but 1 is asked for": given([0]),
        "the running statistics normalise: in training it is those of the batch": lambda: predicted(
            state, x, eps
        ),
    }


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_training(answer, gen, eps):
    """In training mode each feature is normalised over all other dimensions, then scaled and shifted."""
    for shape in SHAPES:
        layer, x = filled(answer, gen, eps=eps), 5 + 2 * torch.randn(shape, generator=gen)
        state, exact = double(layer), x.double()
        wanted = trained(exact, state["weight"], state["bias"], eps).float()
        call = f"BatchNorm(3, eps={eps})(x) for x of {shape}"
        expect_close(layer(x), wanted, call, ulps=100, suspects=mistakes(state, exact, eps))


@pytest.mark.parametrize("momentum", [0.1, 0.7])
def test_running_statistics(answer, gen, momentum):
    """Each batch in training mode moves the running statistics, by momentum, to its own."""
    layer = filled(answer, gen, momentum=momentum)
    for shape in SHAPES:
        x, before = 2 + 3 * torch.randn(shape, generator=gen), double(layer)
        features = x.double().transpose(0, 1).flatten(1)
        new = {"running_mean": features.mean(1), "running_var": features.var(1)}
        layer(x)
        for name, value in new.items():
            old = before[name]
            suspects = {
                "momentum weighs the old numbers: it is the weight of the new ones": lambda o=old, v=value: (
                    momentum * o + (1 - momentum) * v
                ).float(),
                "running_var takes the biased variance: divide by n - 1": lambda o=old, f=features: (
                    (1 - momentum) * o + momentum * f.var(1, correction=0)
                ).float(),
                "momentum is 0.1, whatever the layer was given": lambda o=old, v=value: (
                    0.9 * o + 0.1 * v
                ).float(),
            }
            wanted = ((1 - momentum) * old + momentum * value).float()
            call = f"{name} after BatchNorm(3, momentum={momentum})(x) for x of {shape}"
            expect_close(getattr(layer, name), wanted, call, ulps=100, suspects=suspects, before=old.float())


def test_evaluation(answer, gen):
    """In evaluation mode the running statistics normalise, a single row as well, and stay as they are."""
    for shape in [(5, 3), (1, 3), (2, 3, 4, 5)]:
        layer, x = filled(answer, gen), 5 + 2 * torch.randn(shape, generator=gen)
        torch.nn.Sequential(layer).eval()  # as somebody does who evaluates the whole model
        state, before = double(layer), state_of(layer)
        suspects = {
            "statistics of the batch normalise: in evaluation it is the running ones": lambda s=state, x=x: (
                trained(x.double(), s["weight"], s["bias"]).float()
            )
        }
        call = f"BatchNorm(3).eval()(x) for x of {shape}"
        expect_close(layer(x), predicted(state, x.double()).float(), call, ulps=100, suspects=suspects)
        expect_equal(state_of(layer), before, f"parameters and buffers after {call}")


def test_gradients(answer, gen):
    """Gradients flow to x, also through mean and variance, to weight and bias; buffers carry no graph."""
    for shape in [(6, 3), (2, 3, 4)]:
        layer = answer.BatchNorm(3)
        expect_gradients(
            lambda x, w, b, layer=layer: functional_call(layer, {"weight": w, "bias": b}, (x,)),
            [torch.randn(s, generator=gen) for s in (shape, 3, 3)],
            trained,
            gen=gen,
            call=f"BatchNorm(3)(x) for x of {shape}",
            names="x weight bias",
            ulps=100,
            scale=4.0,
        )
    layer(torch.randn(4, 3, generator=gen, requires_grad=True))
    for name, buffer in layer.named_buffers():
        expect_that(not buffer.requires_grad, f"{name} carries a graph after layer(x): detach what it gets")


def case(answer, gen):
    return Case(
        lambda: answer.BatchNorm(3).eval(),
        [torch.randn(5, 3, generator=gen)],
        predicted,
        "BatchNorm(3).eval()",
    )


def test_in_use(answer, gen):
    """Saved and loaded, the layer predicts what it did."""
    expect_loads(case(answer, gen), gen)


def test_own_computation(answer):
    """The layer uses none of PyTorch's norms, and does not loop over rows or features."""
    with forbid("layer(x)", *OWN):
        answer.BatchNorm(3)(torch.eye(3))

    def make(n):
        layer = answer.BatchNorm(n)
        return lambda: layer(torch.eye(n))

    expect_flat_cost(make, "layer(x)", over="rows and features")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """Half precision is computed in float32, and rounded once."""
    layer, x = filled(answer, gen), (300 + 400 * torch.randn(64, 3, generator=gen)).to(dtype)
    state = double(layer)
    wanted = trained(x.double(), state["weight"], state["bias"])
    half_a_step = 0.55 * torch.finfo(dtype).eps / torch.finfo(torch.float64).eps
    yours = layer(x)
    expect_equal(yours.dtype, dtype, f"the dtype of layer(x) for x of {dtype}")
    expect_close(yours.double(), wanted, f"layer(x) for x of {dtype}", ulps=half_a_step, scale=0.01)


@pytest.mark.fine
def test_far_from_zero(answer, gen):
    """Features near 10000 keep their digits."""
    layer, x = answer.BatchNorm(3), 10_000 + torch.randn(32, 3, generator=gen)
    wanted = trained(x.double(), None, None).float()
    likely = "mean(x²) - mean² is the small difference of two large numbers"
    told = "BatchNorm(3)(x) for x near 10000"
    error = float((layer(x) - wanted).abs().max())
    expect_that(error < 0.01, f"{told} loses its digits", yours=f"wrong by up to {error:.2g}", likely=likely)


@pytest.mark.fine
def test_float64(answer, gen):
    """A float64 layer keeps float64."""
    layer, x = filled(answer, gen).double(), torch.randn(6, 3, generator=gen, dtype=torch.float64)
    wanted = trained(x, layer.weight.detach(), layer.bias.detach())
    expect_close(layer(x), wanted, "BatchNorm(3).double()(x)", ulps=100)


@pytest.mark.fine
def test_in_place(answer, gen):
    """The buffers are updated in place, and x stays as it is."""
    layer, x = filled(answer, gen), torch.randn(6, 3, generator=gen)
    held = dict(layer.named_buffers())
    with unchanged("layer(x)", x=x):
        layer(x)
    with unchanged("layer(x) under no_grad", x=x), torch.no_grad():
        layer(x)
    for name, buffer in layer.named_buffers():
        same = buffer.data_ptr() == held[name].data_ptr()
        expect_that(same, f"layer(x) puts a new tensor in the place of {name}: update it in place")


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """A model on another device takes the layer along, and nothing is copied between device and CPU."""
    expect_moves(case(answer, gen), device, gen)


@pytest.mark.fine
def test_bad_input(answer):
    """Other features, and a single value per feature in training, raise ValueError and update nothing."""
    layer = answer.BatchNorm(3)
    before = state_of(layer)
    for shape in [(8, 2), (8, 1), (8, 1, 5), (1, 3)]:
        call = f"BatchNorm(3)(x) for x of {shape}"
        expect_raises((ValueError, RuntimeError), lambda s=shape: layer(torch.ones(s)), call)
        expect_equal(state_of(layer), before, f"parameters and buffers after {call}")


def oracle(answer, gen):
    layer = filled(answer, gen, momentum=0.4)
    x = (1 + 2 * torch.randn(6, 3, generator=gen)).requires_grad_()
    out = layer(x)
    out.backward(torch.randn(out.shape, generator=gen))
    images = filled(answer, gen, eps=0.3)
    return {
        "a batch in training mode": out.detach(),
        "the gradient for x": x.grad,
        "the running mean": layer.running_mean.clone(),
        "the running variance": layer.running_var.clone(),
        "rows in evaluation mode": layer.eval()(torch.randn(2, 3, generator=gen)).detach(),
        "images, with eps=0.3": images(torch.randn(2, 3, 4, 4, generator=gen)).detach(),
    }
