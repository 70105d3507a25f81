"""What grades logistic_by_hand: each factor against autograd, means, labels; saturation, no graph."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that, unchanged
from grader.checks.contract import Contract, device, dtypes, flat_cost, given, strides, values, without

CALL = "logistic_by_hand(x, w, b, y)"
FIELDS = ("z", "a", "loss", "dloss_da", "da_dz", "dloss_dz", "dz_dw", "dz_db", "dw", "db")


def draw(gen, batch, features, labels=None):
    """Messages, weights, bias and soft labels; |z| stays below about 3."""
    x = torch.randn(batch, features, generator=gen)
    w = torch.rand(features, generator=gen) / features**0.5 + 0.1
    b = torch.rand((), generator=gen) - 0.8
    y = torch.rand(batch, generator=gen) * 0.8 + 0.1
    return given(x, w, b, y if labels is None else torch.tensor(labels))


def exact(x, w, b, y):
    """Every step, the derivatives by autograd."""
    w, b = w.requires_grad_(), b.requires_grad_()
    z = (x * w).sum(1) + b
    a = 1 / (1 + torch.exp(-z))
    loss = -(y * a.log() + (1 - y) * (1 - a).log())
    derive = lambda of, by: torch.autograd.grad(of.sum(), by, retain_graph=True)[0]  # noqa: E731
    dw, db = torch.autograd.grad(loss.mean(), [w, b], retain_graph=True)
    found = (z, a, loss, derive(loss, a), derive(a, z), derive(loss, z), x, torch.ones_like(z), dw, db)
    return {field: t.detach().clone() for field, t in zip(FIELDS, found, strict=True)}


def mistaken(**changed):
    """The steps with some fields made from probabilities, labels and that field in another way."""

    def steps(x, w, b, y):
        found = exact(x, w, b, y)
        return found | {field: make(found["a"], y, found[field]) for field, make in changed.items()}

    return steps


contract = Contract(
    CALL,
    reference=exact,
    use=lambda answer, *args: {
        field: getattr(steps, field).detach()
        for steps in [answer.logistic_by_hand(*args)]
        for field in FIELDS
    },
    inputs=lambda gen: {
        "five messages of three features": draw(gen, 5, 3),
        "a single message": draw(gen, 1, 4),
        "as many messages as features": draw(gen, 4, 4),
        "two messages of six features": draw(gen, 2, 6),
    },
    dims=["message"] * 6 + ["message feature", "message", "feature", ""],
    scale=10.0,
    suspects={
        "a label below 1 is taken for 0: both parts count, by y and 1 - y": mistaken(
            loss=lambda a, y, right: -(1 - a).log()
        ),
        "labels are rounded to 0 or 1: both parts count, by y and 1 - y": mistaken(
            loss=lambda a, y, right: -torch.where(y > 0.5, a, 1 - a).log()
        ),
        "the part of 1 - y has the wrong sign: ln(1 - a) falls with a": mistaken(
            dloss_da=lambda a, y, right: -y / a - (1 - y) / (1 - a)
        ),
        "the part of 1 - y is missing": mistaken(dloss_da=lambda a, y, right: -y / a),
        "sigmoid is applied to a once more: a * (1 - a) is its slope": mistaken(
            da_dz=lambda a, y, right: a.sigmoid() * (1 - a.sigmoid())
        ),
        "that is the slope of tanh: that of sigmoid is a * (1 - a)": mistaken(
            da_dz=lambda a, y, right: 1 - a**2
        ),
        "it is the gradient of the summed loss: that of the mean is asked for": mistaken(
            dw=lambda a, y, right: len(a) * right, db=lambda a, y, right: len(a) * right
        ),
    },
    job=[
        values(title="Every step forward and every factor is the one that the formula has."),
        values(
            inputs=lambda gen: {
                f"labels {labels}": draw(gen, 6, 3, labels)
                for labels in ([0.0, 1.0, 0.0, 1.0, 1.0, 0.0], [0.0, 0.25, 0.5, 0.75, 1.0, 0.1])
            },
            name="labels_from_zero_to_one",
            title="Labels may be 0, 1 or anything between.",
        ),
        without("backward", "grad", "make_dual", name="by_hand"),  # the last begins forward mode
    ],
    fine=[
        dtypes(torch.float64, title="Every field has the dtype of the inputs."),
        strides(title="Inputs may be transposed, or parts of larger tensors."),
        device(title="With inputs on another device every field comes from there."),
        flat_cost(lambda n: draw(torch.Generator().manual_seed(n), n, 3), over="messages"),
        flat_cost(
            lambda n: draw(torch.Generator().manual_seed(n), 3, n),
            over="features",
            name="no_loop_over_features",
        ),
    ],
)


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
    for field, right in wanted.items():
        yours = getattr(steps, field).detach()
        expect_close(yours, right.float(), f"{field} of {CALL} with z up to ±600", scale=600.0)


@pytest.mark.fine
def test_no_graph(answer, gen):
    """The fields carry no graph, and the inputs get no gradient and lose none."""
    inputs = [t.requires_grad_() for t in draw(gen, 4, 3).args]
    inputs[1].grad = torch.full_like(inputs[1], 7.0)
    with unchanged(CALL, **dict(zip("xwby", inputs, strict=True))):
        steps = answer.logistic_by_hand(*inputs)
    for field in FIELDS:
        expect_equal(getattr(steps, field).requires_grad, False, f"requires_grad of {field} of {CALL}")
    expect_equal(inputs[1].grad, torch.full((3,), 7.0), f"w.grad after {CALL}")


def oracle(answer, gen):
    def told(*fields):
        def case(gen):
            steps = answer.logistic_by_hand(*draw(gen, 4, 3).args)
            return [getattr(steps, field).detach() for field in fields]

        return case

    return {  # field by field: one mistake is not to spoil all
        "the forward pass up to a": told("z", "a"),
        "the loss": told("loss"),
        "the factors of the chain rule": told(*FIELDS[3:8]),
        "the gradient for w": told("dw"),
        "the gradient for b": told("db"),
    }
