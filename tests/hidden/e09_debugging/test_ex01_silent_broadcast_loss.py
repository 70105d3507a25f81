"""What grades weighted_mse, share_within and train_step: every pair of shapes, gradients, refusals."""

import copy
import itertools
import math

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_raises,
    expect_that,
    unchanged,
)
from grader.checks.cost.precision import default_dtype
from grader.checks.devices import on_host

FORMS = list(itertools.product(["row", "column"], repeat=3))
"""The forms of predictions, targets and weights."""


def shaped(x, form):
    return x[:, None] if form == "column" else x


def batch(gen, size, dtype=torch.float32):
    """Predictions, targets and weights as rows."""
    x, y = torch.randn(2, size, generator=gen, dtype=dtype)
    return x, y, torch.rand(size, generator=gen, dtype=dtype) + 0.1


def exact(x, y, w=None):
    """Example by example, in float64."""
    x, y = x.double().flatten(), y.double().flatten()
    w = torch.ones_like(x) if w is None else w.double().flatten()
    return (w * (x - y) ** 2).sum() / w.sum()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_every_form(answer, gen, dtype):
    """Rows and columns mean the same, in every combination, for every batch size and dtype."""
    for size in (5, 2, 1):
        for forms in FORMS:
            rows = batch(gen, size, dtype)
            x, y, w = (shaped(t, form) for t, form in zip(rows, forms, strict=True))
            call = f"weighted_mse of {tuple(x.shape)}, {tuple(y.shape)}"
            with unchanged(call, predictions=x, targets=y, weights=w):
                plain, weighted = answer.weighted_mse(x, y), answer.weighted_mse(x, y, w)
            expect_close(plain, exact(x, y).to(dtype), call)
            expect_close(weighted, exact(x, y, w).to(dtype), f"{call} and {tuple(w.shape)}")


def test_weights(answer, gen):
    """The weights count relative to their sum, and a weight of 0 counts nothing; NaN comes through."""
    for w in (
        [0.0, 2.0, 0.0, 6.0],
        [1e-3, 1e-3, 2e-3, 5e-3],
        [1e4, 3e4, 2e4, 1e4],
        [1e-12, 0.0, 3e-12, 2e-12],
    ):
        x, y, _ = batch(gen, 4)
        for form in ("row", "column"):
            yours = answer.weighted_mse(x[:, None], y, weights=shaped(torch.tensor(w), form))
            expect_close(
                yours, exact(x, y, torch.tensor(w)).float(), f"weighted_mse with weights {w} as a {form}"
            )
    x = torch.tensor([1.0, math.nan, 3.0])
    for yours in (answer.weighted_mse(x, x), answer.weighted_mse(x, x, torch.ones(3))):
        expect_equal(yours, torch.tensor(math.nan), "weighted_mse of predictions, one of them NaN")


def test_dtype_and_device_of_the_inputs(answer, gen, device):
    """The loss has dtype and device of its inputs, whatever torch's default dtype and device are."""
    x, y, w = batch(gen, 4)
    for weights in (None, w):
        call = f"weighted_mse {'without' if weights is None else 'with'} weights, torch's default is float64"
        with default_dtype(torch.float64):
            yours = answer.weighted_mse(x, y[:, None], weights)
        expect_close(yours, exact(x, y, weights).float(), call)
        there = None if weights is None else weights.to(device)
        yours = answer.weighted_mse(x.to(device), y[:, None].to(device), there)
        call = call.replace("torch's default is float64", "on another device")
        expect_equal(str(yours.device), str(device), f"the device of {call}")
        expect_close(on_host(yours), exact(x, y, weights).float(), call)


@pytest.mark.parametrize("forms", FORMS, ids=lambda forms: "-".join(form[0] for form in forms))
def test_gradients(answer, gen, forms):
    """Predictions, targets and weights get their gradients, each in the shape that it came in."""
    for size in (4, 1):
        given = batch(gen, size)
        given[2][: size // 2] = 0.0  # what counts nothing has a gradient nevertheless: that of counting more
        inputs = [shaped(t, form) for t, form in zip(given, forms, strict=True)]
        call = f"weighted_mse (some weights 0) of {', '.join(str(tuple(t.shape)) for t in inputs)}"
        scale = 1.0  # the gradient for a single weight is 0
        expect_gradients(
            answer.weighted_mse,
            inputs,
            exact,
            gen=gen,
            call=call,
            names="predictions targets weights",
            scale=scale,
        )
        expect_gradients(
            answer.weighted_mse, inputs[:2], exact, gen=gen, call=call, names="predictions targets"
        )


def test_share_within(answer, gen):
    """share_within counts predictions at most `tolerance` away, as a Python float, in every form."""
    y = torch.tensor([0.0, 1.0, -2.0, 4.0, 8.0])
    x = y + torch.tensor([0.0, 0.5, -0.5, 1.0, -3.0])
    for first, second, _ in FORMS:
        x_, y_ = shaped(x, first), shaped(y, second)
        call = f"share_within of {tuple(x_.shape)}, {tuple(y_.shape)}"
        for tolerance, wanted in [(0.0, 0.2), (0.5, 0.6), (0.4999, 0.2), (2.0, 0.8), (3.0, 1.0)]:
            with unchanged(call, predictions=x_, targets=y_):
                yours = answer.share_within(x_, y_, tolerance=tolerance)
            expect_equal(type(yours).__name__, "float", f"the type of {call}")
            close = math.isclose(yours, wanted, abs_tol=1e-6)
            expect_that(
                close, f"wrong share from {call} with tolerance={tolerance}", yours=yours, wanted=wanted
            )
        yours = answer.share_within(x_[:2] * 0.1, y_[:2] * 0.1)
        expect_that(math.isclose(yours, 1.0), f"wrong share from {call} by default", yours=yours, wanted=1.0)
        yours = answer.share_within(x_[1:] * 0.4, y_[1:] * 0.4)
        expect_that(yours == 0.0, f"wrong share from {call} by default", yours=yours, wanted=0.0)
        graph = answer.share_within(x_.clone().requires_grad_(), y_, 0.5)
        expect_that(
            math.isclose(graph, 0.6, abs_tol=1e-6), f"wrong share from {call} with a graph", yours=graph
        )
        one = answer.share_within(x_[:1], y_[:1])
        expect_equal(one, 1.0, "share_within of a batch of one")


def test_share_of_large_numbers(answer):
    """The tolerance is absolute, be it for prices in the millions, and NaN is away from everything."""
    tiny = answer.share_within(torch.tensor([1e-7, 0.0]), torch.zeros(2), tolerance=0.0)
    expect_equal(tiny, 0.5, "share_within of differences of 1e-7 and 0 with tolerance=0.0")
    for size in (1e-30, 1e25):  # whose squares float32 does not hold
        yours = answer.share_within(torch.tensor([5 * size, size]), torch.zeros(2), tolerance=2 * size)
        expect_equal(yours, 0.5, f"share_within of differences near {size:g}, the tolerance between them")
    double = torch.tensor([0.1 + 5e-10, 0.1], dtype=torch.float64)
    about = "share_within of float64 differences of 0.1 + 5e-10 and 0.1, tolerance=0.1"
    expect_equal(answer.share_within(double, torch.zeros_like(double)), 0.5, about)
    y = torch.tensor([4e6, 2e6, 1e6, 3e6, 5e6])
    x = y + torch.tensor([8.0, -1.0, 2.0, 0.5, math.nan])
    for tolerance, wanted in ((1.0, 0.4), (2.0, 0.6), (0.25, 0.0)):
        yours = answer.share_within(x[:, None], y, tolerance=tolerance)
        expect_that(
            math.isclose(yours, wanted, abs_tol=1e-6),
            f"wrong share from share_within of prices in the millions with tolerance={tolerance}",
            yours=yours,
            wanted=wanted,
        )


class Flat(nn.Module):
    """A model that gives (batch,)."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 1)

    def forward(self, x):
        return self.linear(x).squeeze(1)


@pytest.mark.parametrize("kind", ["row", "column"])
def test_train_step(answer, gen, kind):
    """A step moves the model by the gradient of the right loss alone, and returns that loss."""
    for size, form, weighted in itertools.product((4, 1), ("row", "column"), (False, True)):
        model = (Flat() if kind == "row" else nn.Sequential(nn.Linear(3, 1))).double()
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(torch.randn(p.shape, generator=gen))
                p.grad = torch.full_like(p, 3.0)
        twin = copy.deepcopy(model)
        inputs = torch.randn(size, 3, generator=gen).double()
        _, y, w = (shaped(t, form) for t in batch(gen, size, torch.float64))
        w = w if weighted else None
        twin.zero_grad()
        wanted = exact(twin(inputs), y, w)
        wanted.backward()
        call = f"train_step(…) with outputs as a {kind}, targets {tuple(y.shape)}"
        options = {"weights": w} if weighted else {}
        runs = []
        model.register_forward_hook(lambda *_, runs=runs: runs.append(1))
        yours = answer.train_step(model, torch.optim.SGD(model.parameters(), lr=0.1), inputs, y, **options)
        expect_equal(type(yours).__name__, "float", f"the type of {call}")
        close = math.isclose(yours, wanted.item(), rel_tol=1e-9)
        expect_that(close, f"wrong loss from {call}", yours=yours, wanted=wanted.item())
        for (name, p), q in zip(model.named_parameters(), twin.parameters(), strict=True):
            expect_close(p.detach(), (q - 0.1 * q.grad).detach(), f"{name} after {call}", ulps=1e4, scale=1.0)
        expect_equal(len(runs), 1, f"the runs of the model in {call}")


BAD = [
    ((4, 1), (1, 4)), ((1, 4), (4,)), ((4,), (1, 4)), ((1, 4), (1, 4)), ((4, 2), (4, 2)), ((4, 1), (4, 2)),
    ((2, 2), (4,)), ((4,), (2, 2)), ((4, 1, 1), (4,)), ((4,), (4, 1, 1)), ((1, 4, 1), (4, 1)),
    ((4, 4), (4, 4)), ((), (4,)), ((4,), ()), ((), ()), ((1,), ()), ((4, 1), (1,)), ((4, 1), (1, 1)),
    ((1,), (4,)), ((1, 1), (4, 1)), ((4,), (3,)), ((4, 1), (3, 1)), ((2, 1), (4,)), ((0,), (0,)),
    ((0, 1), (0,)), ((0,), (1,)), ((0, 1), (1, 1)), ((4,), (0,)), ((4, 0), (4, 0)), ((4,), (4, 0)),
    ((1, 1, 1), (1,)),
]  # fmt: skip


def test_bad_input(answer):
    """Shapes that are no batch, or not the same batch, raise ValueError, in the loss and in the share."""
    for first, second in BAD:
        x, y = torch.zeros(first), torch.ones(second)
        for name, call in {
            "weighted_mse": lambda x=x, y=y: answer.weighted_mse(x, y),
            "share_within": lambda x=x, y=y: answer.share_within(x, y),
        }.items():
            expect_raises(ValueError, call, f"{name} of {first}, {second}")


def test_bad_weights(answer):
    """Weights of another shape raise ValueError as well."""
    for shape in [(1,), (1, 1), (3,), (1, 4), (4, 4), (4, 1, 1), (2, 2), (), (0,), (4, 2), (8,)]:
        for x in (torch.zeros(4), torch.zeros(4, 1)):
            expect_raises(
                ValueError,
                lambda x=x, shape=shape: answer.weighted_mse(x, torch.ones(4), torch.ones(shape)),
                f"weighted_mse of {tuple(x.shape)}, (4,) and weights {shape}",
            )


def test_train_step_refuses(answer, gen):
    """train_step raises ValueError before it moves a parameter."""
    cases = [
        (2, 1, (3,), None),
        (1, 1, (3,), None),
        (3, 1, (1,), None),
        (3, 2, (3,), None),
        (3, 2, (3, 2), None),
        (3, 2, (6,), None),
        (3, 1, (1, 3), None),
        (3, 1, (3,), (1,)),
        (3, 1, (3,), (1, 3)),
        (3, 1, (3,), (3, 3)),
    ]
    for (size, outputs, targets, weights), flat in itertools.product(cases, (False, True)):
        if flat and outputs > 1:
            continue
        model = nn.Sequential(nn.Linear(2, outputs), *[nn.Flatten(0)] * flat)
        before = [p.detach().clone() for p in model.parameters()]
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        inputs = torch.randn(size, 2, generator=gen)
        options = {"weights": torch.ones(weights)} if weights else {}
        shape = (size,) if flat else (size, outputs)
        call = f"train_step(…) with outputs {shape}, targets {targets}, weights {weights}"
        expect_raises(
            ValueError,
            lambda m=model, o=optimizer, i=inputs, t=targets, k=options: answer.train_step(
                m, o, i, torch.ones(t), **k
            ),
            call,
        )
        for p, was in zip(model.parameters(), before, strict=True):
            expect_close(p.detach(), was, f"a parameter after {call}")


def test_layouts(answer, gen):
    """Inputs may lie in memory in any way."""
    x, y, w = (
        torch.randn(5, 4, generator=gen),
        torch.randn(9, 2, generator=gen),
        torch.rand(1, 5, generator=gen),
    )
    for this, that, weights in [
        (x[:, 1:2], y[4:, 1], w.T),
        (x[:, 3], y[:5, :1], w[0]),
        (x[:1, :1].expand(5, 1), y[::2, 0], w[0, :1].expand(5)),
    ]:
        yours = answer.weighted_mse(this, that, weights)
        expect_close(yours, exact(this, that, weights).float(), "weighted_mse of strided inputs")


def test_no_loops(answer, gen):
    """The number of operations does not depend on the batch size."""

    def make(n):
        x, y, w = batch(gen, n)
        return lambda: (
            answer.weighted_mse(x[:, None], y, w),
            answer.weighted_mse(x, y),
            answer.share_within(x, y[:, None]),
        )

    expect_flat_cost(make, "weighted_mse and share_within", over="the batch size")


def oracle(answer, gen):
    results = []
    for size in (4, 1):
        for forms in FORMS:
            x, y, w = (shaped(t, f) for t, f in zip(batch(gen, size, torch.float64), forms, strict=True))
            x = x.clone().requires_grad_()
            loss = answer.weighted_mse(x, y, w)
            (grad,) = torch.autograd.grad(loss, x)
            results.append([loss.detach(), grad, answer.share_within(x.detach(), y, 0.7)])
    return results
