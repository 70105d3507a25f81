"""What grades logistic_by_hand: each factor against autograd, means, labels; saturation, no graph."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_flat_cost, expect_that, forbid, unchanged
from grader.checks.devices import on_host

CALL = "logistic_by_hand(x, w, b, y)"
FIELDS = ("z", "a", "loss", "dloss_da", "da_dz", "dloss_dz", "dz_dw", "dz_db", "dw", "db")
DIMS = {"dz_dw": "message feature", "dw": "feature", "db": ""}


def draw(batch, features, gen, dtype=torch.float32):
    """Messages, weights, bias and soft labels; |z| stays below about 3."""
    x = torch.randn(batch, features, generator=gen, dtype=torch.float64)
    w = torch.rand(features, generator=gen, dtype=torch.float64) / features**0.5 + 0.1
    b = torch.rand((), generator=gen, dtype=torch.float64) - 0.8
    y = torch.rand(batch, generator=gen, dtype=torch.float64) * 0.8 + 0.1
    return tuple(t.to(dtype) for t in (x, w, b, y))


def exact(x, w, b, y):
    """Every step in float64, the derivatives by autograd."""
    x, y = x.detach().double(), y.detach().double()
    w, b = (t.detach().double().clone().requires_grad_() for t in (w, b))
    z = (x * w).sum(1) + b
    a = 1 / (1 + torch.exp(-z))
    loss = -(y * a.log() + (1 - y) * (1 - a).log())
    derive = lambda of, by: torch.autograd.grad(of.sum(), by, retain_graph=True)[0]  # noqa: E731
    dw, db = torch.autograd.grad(loss.mean(), [w, b], retain_graph=True)
    found = (z, a, loss, derive(loss, a), derive(a, z), derive(loss, z), x, torch.ones_like(z), dw, db)
    return {field: t.detach().clone() for field, t in zip(FIELDS, found, strict=True)}


def mistakes(field, wanted):
    """What people get wrong in a field, and what it gives."""
    a, y = wanted["a"], wanted["a"] - wanted["dloss_dz"]
    mean = "it is the gradient of the summed loss: that of the mean is asked for"
    return {
        "dloss_da": {
            "the part of 1 - y has the wrong sign: ln(1 - a) falls with a": lambda: (
                -y / a - (1 - y) / (1 - a)
            ),
            "the part of 1 - y is missing": lambda: -y / a,
        },
        "da_dz": {
            "sigmoid is applied to a once more: a * (1 - a) is its slope": lambda: (
                a.sigmoid() * (1 - a.sigmoid())
            ),
            "that is the slope of tanh: that of sigmoid is a * (1 - a)": lambda: 1 - a**2,
        },
        "dw": {mean: lambda: len(a) * wanted["dw"]},
        "db": {mean: lambda: len(a) * wanted["db"]},
    }.get(field, {})


def expect_steps(steps, wanted, call, dtype=torch.float32, fields=FIELDS):
    for field in fields:
        expect_that(
            hasattr(steps, field), f"the result of {call} has no field {field}", yours=type(steps).__name__
        )
        right = wanted[field].to(dtype)
        # every field is made of numbers around 1, and 1 - a loses digits where a is near 1
        scale = max(1.0, float(right.abs().max()))
        dims = DIMS.get(field, "message")
        suspects = mistakes(field, wanted)
        expect_close(
            getattr(steps, field).detach(),
            right,
            f"{field} of {call}",
            dims=dims,
            scale=scale,
            suspects=suspects,
        )


@pytest.mark.parametrize("fields", [("z", "a", "loss"), ("dloss_da", "da_dz"), ("dz_dw", "dz_db")], ids=str)
def test_each_step(answer, gen, fields):
    """Every step forward and every factor is the one that the formula has, message by message."""
    for batch, features in [(5, 3), (1, 4)]:
        inputs = draw(batch, features, gen)
        wanted = exact(*inputs)
        steps = answer.logistic_by_hand(*inputs)
        expect_steps(steps, wanted, f"{CALL} with {batch} messages", fields=fields)


def test_gradient_of_the_mean(answer, gen):
    """dw and db are the gradients of the mean loss, as backward() finds them, also with as many features."""
    for batch, features in [(5, 3), (4, 4), (2, 6)]:
        inputs = draw(batch, features, gen)
        steps = answer.logistic_by_hand(*inputs)
        call = f"{CALL} with {batch} messages of {features} features"
        expect_steps(steps, exact(*inputs), call, fields=("dloss_dz", "dw", "db"))


def test_labels_from_zero_to_one(answer, gen):
    """Labels may be 0, 1 or anything between."""
    x, w, b, _ = draw(6, 3, gen)
    for labels in ([0.0, 1.0, 0.0, 1.0, 1.0, 0.0], [0.0, 0.25, 0.5, 0.75, 1.0, 0.1]):
        y = torch.tensor(labels)
        expect_steps(answer.logistic_by_hand(x, w, b, y), exact(x, w, b, y), f"{CALL} with y = {labels}")


def test_by_hand(answer, gen):
    """The derivatives are computed without autograd."""
    inputs = draw(4, 3, gen)
    with forbid(CALL, "backward", "grad", "make_dual"):  # the last is what forward mode starts with
        answer.logistic_by_hand(*inputs)


@pytest.mark.fine
def test_large_z(answer):
    """Where the probability rounds to 0 or 1, the gradients are right all the same."""
    x = torch.tensor([[200.0, 1.0], [-300.0, 2.0], [20.0, 2.0], [-27.5, 2.0], [0.5, 3.0]])
    y, w, b = torch.tensor([0.0, 1.0, 1.0, 0.25, 0.0]), torch.tensor([2.0, 0.25]), torch.tensor(-0.5)
    z = (x * w).sum(1) + b
    a = torch.tensor([1 / (1 + math.exp(-t)) for t in z], dtype=torch.float64)
    difference = a - y
    dw = (difference.unsqueeze(1) * x).mean(0)
    wanted = {"z": z, "a": a, "dloss_dz": difference, "db": difference.mean(), "dw": dw}
    steps = answer.logistic_by_hand(x, w, b, y)
    likely = "inf times 0: multiply dloss_da and da_dz on paper, the result needs no division"
    lost = bool(steps.dloss_dz.isnan().any())
    expect_that(
        not lost, f"dloss_dz of {CALL} is NaN where |z| is large", yours=steps.dloss_dz, likely=likely
    )
    expect_steps(steps, wanted, f"{CALL} with z up to ±600", torch.float32, tuple(wanted))


@pytest.mark.fine
def test_dtype_and_strides(answer, gen):
    """Every field has the dtype of the inputs, which may be transposed, and stay as they are."""
    x, w, b, y = draw(6, 4, gen, torch.float64)
    inputs = (x.t().contiguous().t()[::2], w, b, y[::2])
    with unchanged(CALL, **dict(zip("xwby", inputs, strict=True))):
        steps = answer.logistic_by_hand(*inputs)
    expect_steps(steps, exact(*inputs), f"{CALL} in float64", torch.float64)


@pytest.mark.fine
def test_no_graph(answer, gen):
    """The fields carry no graph, and the inputs get no gradient and lose none."""
    inputs = [t.requires_grad_() for t in draw(4, 3, gen)]
    inputs[1].grad = torch.full_like(inputs[1], 7.0)
    with unchanged(CALL, **dict(zip("xwby", inputs, strict=True))):
        steps = answer.logistic_by_hand(*inputs)
    for field in FIELDS:
        expect_equal(getattr(steps, field).requires_grad, False, f"requires_grad of {field} of {CALL}")
    expect_equal(inputs[1].grad, torch.full((3,), 7.0), f"w.grad after {CALL}")


@pytest.mark.fine
def test_on_another_device(answer, device, gen):
    """With inputs on another device every field comes from there."""
    inputs = draw(4, 3, gen)
    wanted = exact(*inputs)
    steps = answer.logistic_by_hand(*(t.to(device) for t in inputs))
    for field in FIELDS:
        yours = getattr(steps, field)
        expect_equal(yours.device, device, f"the device of {field} of {CALL}")
        expect_close(on_host(yours), wanted[field].float(), f"{field} of {CALL}", scale=10.0)


@pytest.mark.fine
def test_no_loop(answer, gen):
    """The cost is the same for 6 messages or features and for 24."""
    rows, columns = ({n: draw(*sizes, gen) for n, sizes in pairs.items()} for pairs in (
        {6: (6, 3), 24: (24, 3)}, {6: (3, 6), 24: (3, 24)},
    ))  # fmt: skip
    expect_flat_cost(lambda n: lambda: answer.logistic_by_hand(*rows[n]), CALL, over="messages")
    expect_flat_cost(lambda n: lambda: answer.logistic_by_hand(*columns[n]), CALL, over="features")


def oracle(answer, gen):
    steps = answer.logistic_by_hand(*draw(4, 3, gen))
    told = {field: getattr(steps, field).detach() for field in FIELDS}
    return {
        "the forward pass": [told[field] for field in ("z", "a", "loss")],
        "the factors of the chain rule": [told[field] for field in FIELDS[3:8]],
        "the gradients for w and b": [told["dw"], told["db"]],
    }
