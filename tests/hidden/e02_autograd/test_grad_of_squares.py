"""What grades grad_of_squares: value and gradient; other leaves, graphs, grad modes, shapes and strides."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, modes_kept, unchanged
from grader.checks.contract import Contract, device, dtypes, given, strides, values

CALL = "grad_of_squares(residuals, params)"


def bent(shape, gen, count=7):
    """Residuals that bend, of all entries of parameters of this shape; (count,)."""
    matrix = torch.randn(count, torch.Size(shape).numel(), generator=gen)
    offset = torch.randn(count, generator=gen)
    return lambda p: torch.sin(matrix.to(p) @ p.reshape(-1)) * 2 + offset.to(p)


def fit(gen, *shape, count=7):
    return given(bent(shape, gen, count), torch.randn(shape, generator=gen))


def exact(residuals, params, power=lambda r: (r**2).sum()):
    leaf = params.detach().clone().requires_grad_()
    with torch.enable_grad():
        value = power(residuals(leaf))
    return value.detach(), torch.autograd.grad(value, leaf)[0]


def corners(gen):
    params = torch.randn(4, generator=gen)
    return {
        "a single number": fit(gen),
        "residuals that are all 0": given(lambda p: p - params.to(p), params),
        "a transposed matrix of residuals": given(
            lambda p: (p[:, None] * torch.arange(3.0).to(p)).t(), params
        ),
        "residuals that are one number": given(lambda p: p.sum() - 2, params),
    }


contract = Contract(
    CALL,
    reference=exact,
    inputs=lambda gen: {
        "three parameters, seven residuals": fit(gen, 3),
        "five parameters, two residuals": fit(gen, 5, count=2),
        "a matrix of parameters": fit(gen, 2, 3),
    },
    suspects={
        "it is the mean of the squares: their sum is asked for": lambda residuals, params: exact(
            residuals, params, lambda r: (r**2).mean()
        ),
        "it is half the sum: no factor is asked for": lambda residuals, params: exact(
            residuals, params, lambda r: (r**2).sum() / 2
        ),
        "it is the square of the sum: squares are added up": lambda residuals, params: exact(
            residuals, params, lambda r: r.sum() ** 2
        ),
        "it is the norm, the root of the sum of squares": lambda residuals, params: exact(
            residuals, params, lambda r: r.norm()
        ),
    },
    scale=30.0,
    use=lambda answer, residuals, params: detached(answer.grad_of_squares(residuals, params)),
    job=[
        values(title="The value is the sum of squares, and the gradient is right for residuals of any form.")
    ],
    fine=[
        values(
            inputs=corners, name="any_shape", title="Parameters and residuals have any shape, and may be 0."
        ),
        dtypes(torch.float64, title="float64 parameters have a gradient in float64."),
        strides(title="Parameters may be transposed or cut out."),
        device(
            inputs=lambda gen: [given(lambda p: torch.sin(p) * 3 - 1, torch.randn(2, 3, generator=gen))],
            title="Parameters on another device have their gradient there.",
        ),
    ],
)


def detached(pair):
    value, gradient = pair
    return value.detach(), gradient.detach()


def expect_both(answer, residuals, params, about):
    wanted = exact(residuals, params)
    for part, mine, right in zip(
        ("value", "gradient"), answer.grad_of_squares(residuals, params), wanted, strict=True
    ):
        call = f"the {part} of {CALL}, {about},"
        expect_that(
            mine is not None, f"{call} is None", likely="what backward() began with is no leaf: detach it"
        )
        expect_close(mine.detach(), right, call, scale=30.0)


@pytest.mark.fine
def test_params_that_require_gradients(answer, gen):
    """params may require gradients, and what lies in its `.grad` stays."""
    params = torch.randn(4, generator=gen).requires_grad_()
    params.grad = torch.full_like(params, 10.0)
    with unchanged(CALL, params=params):
        expect_both(answer, bent((4,), gen), params, "where params requires gradients")
    expect_that(params.grad is not None, f"{CALL} takes away the `.grad` of params")
    expect_equal(params.grad, torch.full((4,), 10.0), f"params.grad after {CALL}")


@pytest.mark.fine
def test_params_that_were_computed(answer, gen):
    """params may be the result of other operations, and nothing flows on to where it comes from."""
    source = torch.randn(4, generator=gen).requires_grad_()
    with unchanged(CALL, source=source):
        expect_both(answer, bent((4,), gen), source * 3, "where params was computed")
    expect_that(source.grad is None, "the tensor that params is computed from has a `.grad`")


@pytest.mark.fine
def test_other_tensors_get_no_gradient(answer, gen):
    """Weights that residuals uses get no gradient, and keep the one that they have."""
    network = nn.Linear(4, 3)
    network.bias.grad = torch.ones(3)
    expect_both(answer, network, torch.randn(4, generator=gen), "where residuals is a layer")
    expect_that(network.weight.grad is None, "a weight that residuals uses has got a `.grad`")
    expect_that(network.bias.grad is not None, "a weight that residuals uses has lost its `.grad`")
    expect_equal(network.bias.grad, torch.ones(3), "the `.grad` of a weight that has one")


@pytest.mark.fine
def test_no_graph(answer, gen):
    """Neither the value nor the gradient carries a graph."""
    value, gradient = answer.grad_of_squares(bent((4,), gen), torch.randn(4, generator=gen))
    expect_equal(value.requires_grad, False, f"requires_grad of the value of {CALL}")
    expect_equal(gradient.requires_grad, False, f"requires_grad of the gradient of {CALL}")


@pytest.mark.fine
def test_inside_no_grad(answer, gen):
    """Where gradients are switched off it still works, and leaves them switched off."""
    with torch.no_grad(), modes_kept(f"{CALL} inside no_grad"):
        expect_both(answer, bent((4,), gen), torch.randn(4, generator=gen), "inside no_grad")


@pytest.mark.fine
def test_called_once(answer, gen):
    """residuals is called once."""
    calls, inner = [], bent((3,), gen)
    answer.grad_of_squares(lambda p: calls.append(1) or inner(p), torch.randn(3, generator=gen))
    expect_equal(len(calls), 1, f"how often {CALL} calls residuals")
