"""What grades rms_norm: rows, eps, gradients, the layer in use; half precision, dtypes, devices, errors."""

import pytest
import torch
from torch.func import functional_call

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    forbid,
    unchanged,
)
from grader.checks.module_contract import Case, expect_loads, expect_moves
from grader.checks.registered import randomize

OWN = ("rms_norm", "fused_rms_norm", "layer_norm", "native_layer_norm")


def formula(x, weight, eps=1e-6):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def mistakes(x, weight, eps):
    """What people get wrong, and what it gives."""
    squares = x.square()
    mean = squares.mean(-1, keepdim=True)
    return {
        "squares are added up: their mean is asked for": lambda: (
            x / (squares.sum(-1, keepdim=True) + eps).sqrt() * weight
        ),
        "the mean is taken off first: that is layer norm": lambda: formula(
            x - x.mean(-1, keepdim=True), weight, eps
        ),
        "the mean runs over the first dimension: features are the last": lambda: (
            x / (squares.mean(0, keepdim=True) + eps).sqrt() * weight
        ),
        "one mean is taken over everything: each row has its own": lambda: (
            x / (squares.mean() + eps).sqrt() * weight
        ),
        "the weight is left out": lambda: formula(x, 1.0, eps),
        "eps is added to the root, not under it": lambda: x / (mean.sqrt() + eps) * weight,
        "eps is not added": lambda: formula(x, weight, 0.0),
        "1e-6 is added, not the eps of the layer": lambda: formula(x, weight, 1e-6),
        "1e-5 is added, where the default is 1e-6": lambda: formula(x, weight, 1e-5),
    }


def filled(answer, gen, features, **options):
    layer = answer.RMSNorm(features, **options)
    randomize(layer, gen)
    return layer


def expect_right(layer, x, note, eps=1e-6):
    exact, weight = x.double(), layer.weight.detach().double()
    wanted = formula(exact, weight, eps).to(x.dtype)
    call = f"RMSNorm({x.shape[-1]})(x) {note}"
    expect_close(layer(x), wanted, call, suspects=mistakes(exact, weight, eps))


def test_rows(answer, gen):
    """Each row along the last dimension is divided by its own root mean square, and scaled by the weight."""
    for shape in [(4,), (5, 4), (3, 3), (2, 3, 4), (2, 1, 3, 5)]:
        x = 2 + 3 * torch.randn(shape, generator=gen)
        expect_right(filled(answer, gen, shape[-1]), x, f"of shape {shape}")


def test_eps(answer, gen):
    """eps is added under the root, and is 1e-6 without another word."""
    x = torch.randn(4, 6, generator=gen) / 500
    expect_right(filled(answer, gen, 6), x, "of small numbers")
    for eps in (0.5, 1e-3):
        expect_right(filled(answer, gen, 6, eps=eps), x, f"of small numbers, with eps={eps}", eps)


def test_gradients(answer, gen):
    """Gradients flow to x, also through its root mean square, and to the weight."""
    for shape in [(3, 4), (2, 3, 5)]:
        layer = answer.RMSNorm(shape[-1])
        expect_gradients(
            lambda x, w, layer=layer: functional_call(layer, {"weight": w}, (x,)),
            [torch.randn(shape, generator=gen), torch.randn(shape[-1], generator=gen)],
            formula,
            gen=gen,
            call=f"RMSNorm({shape[-1]})(x)",
            names="x weight",
            scale=4.0,
        )


def case(answer, gen):
    return Case(
        lambda: answer.RMSNorm(4, eps=1e-3),
        [torch.randn(5, 4, generator=gen)],
        lambda state, x: formula(x, state["weight"], 1e-3),
        "RMSNorm(4, eps=0.001)",
    )


def test_in_use(answer, gen):
    """Saved and loaded, the layer computes with its weight."""
    expect_loads(case(answer, gen), gen)


def test_own_computation(answer):
    """The layer uses none of PyTorch's norm layers, and does not loop over rows or features."""
    with forbid("layer(x)", *OWN):
        answer.RMSNorm(3)(torch.ones(2, 3))

    def make(n):
        layer = answer.RMSNorm(n)
        return lambda: layer(torch.ones(n, n))

    expect_flat_cost(make, "layer(x)", over="rows and features")


def halves(gen, dtype):
    """Rows whose squares a half cannot hold, and rows of ordinary numbers."""
    sizes = torch.tensor([1.0, 30.0, 400.0, 20_000.0])
    return (sizes[:, None] * torch.randn(4, 64, generator=gen)).clamp(-6e4, 6e4).to(dtype)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """Half precision is computed in float32 with the weight, and rounded once, at the end."""
    layer, x = filled(answer, gen, 64).to(dtype), halves(gen, dtype)
    wanted = formula(x.double(), layer.weight.detach().double())
    half_a_step = 0.55 * torch.finfo(dtype).eps / torch.finfo(torch.float64).eps
    rounded_often = formula(x.float(), 1.0).to(dtype) * layer.weight.detach()
    suspects = {
        "it is rounded before the weight, and again after it": lambda: rounded_often.double(),
        "squares of large numbers are inf in float16": lambda: formula(x, layer.weight.detach()).double(),
    }
    call = f"RMSNorm(64)(x) in {dtype}"
    expect_close(layer(x).double(), wanted, call, ulps=half_a_step, scale=0.01, suspects=suspects)


@pytest.mark.fine
def test_dtypes(answer, gen):
    """The result has the dtype of x, not that of the weight."""
    for kind, dtype in [
        (torch.float32, torch.bfloat16),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float64),
        (torch.float64, torch.float64),
    ]:
        layer = filled(answer, gen, 4).to(kind)
        x = torch.randn(5, 4, generator=gen, dtype=torch.float64).to(dtype)
        expect_equal(layer(x).dtype, dtype, f"the dtype from a {kind} layer for x of {dtype}")
        expect_right(layer, x, f"of {dtype}, in a {kind} layer")


@pytest.mark.fine
def test_x_stays(answer, gen):
    """x keeps its numbers, with gradients and without."""
    x, layer = torch.randn(3, 4, generator=gen), filled(answer, gen, 4)
    with unchanged("layer(x)", x=x):
        layer(x)
    with unchanged("layer(x) under no_grad", x=x), torch.no_grad():
        layer(x)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """A model on another device takes the layer along, and nothing is copied between device and CPU."""
    expect_moves(case(answer, gen), device, gen)


@pytest.mark.fine
def test_bad_input(answer):
    """Another number of features raises an error, also where the shapes would broadcast."""
    for features, shape in [(3, (4, 2)), (3, (4, 1)), (1, (2, 4))]:
        call = f"RMSNorm({features})(x) for x of {shape}"
        layer = answer.RMSNorm(features)
        expect_raises((ValueError, RuntimeError), lambda n=layer, s=shape: n(torch.ones(s)), call)


def oracle(answer, gen):
    layer = filled(answer, gen, 6)
    x = torch.randn(4, 6, generator=gen).requires_grad_()
    out = layer(x)
    out.backward(torch.randn(out.shape, generator=gen))
    wide = filled(answer, gen, 5, eps=0.3)
    return {
        "four rows": out.detach(),
        "the gradient for x": x.grad,
        "the gradient for the weight": layer.weight.grad,
        "sequences, with eps=0.3": wide(torch.randn(2, 3, 5, generator=gen)).detach(),
    }


def fine_oracle(answer, gen):
    layer = filled(answer, gen, 64)
    return {str(dtype): layer(halves(gen, dtype)).detach() for dtype in (torch.float16, torch.bfloat16)}
