"""What grades gradient_report: states, norms, rows; extreme numbers, waits, nothing changed."""

import math

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_number, expect_that
from grader.checks.devices import count_traffic

CALL = "gradient_report(model)"
INF, NAN = math.inf, math.nan


def with_gradients(*gradients, dtype=torch.float32):
    """Parameters p0, p1, …, with these gradients."""
    model = nn.Module()
    for number, grad in enumerate(gradients):
        grad = None if grad is None else torch.as_tensor(grad, dtype=dtype)
        p = nn.Parameter(torch.ones((2,) if grad is None else grad.shape, dtype=dtype))
        p.grad = grad
        model.register_parameter(f"p{number}", p)
    return model


def rows(answer, model, **options):
    """Plain data."""
    return [(str(row.name), row.norm, str(row.state)) for row in answer.gradient_report(model, **options)]


NORMS = {
    "the sum of squares: its square root is missing": lambda g: g.square().sum(),
    "the largest number": lambda g: g.abs().max(),
    "the sum of the absolute values": lambda g: g.abs().sum(),
    "the mean of the squares is taken, not their sum": lambda g: g.square().mean().sqrt(),
    "the norms along one dimension": lambda g: g.norm(dim=-1).max(),
    "the spectral norm of a matrix": lambda g: torch.linalg.matrix_norm(g, 2),
}


def expect_norm(norm, wanted, name, call, grad=None, weight=None):
    what = f"norm of {name} in {call}"
    if wanted is None:
        expect_that(norm is None, f"the {what} is not None, though there is no gradient", yours=repr(norm))
        return
    suspects = {}
    if grad is not None:
        suspects = {told: lambda made=made: made(grad.double()).item() for told, made in NORMS.items()}
        suspects["the norm of the parameter, not of its gradient"] = lambda: weight.double().norm().item()
    expect_number(norm, wanted, what, rtol=1e-5, suspects=suspects)


def expect_rows(yours, wanted, call=CALL, likely=None, norms=True, names=None):
    """`likely`: causes in words, by the state that is given instead; `names`: suspects."""
    mine, right = ([name for name, _, _ in some] for some in (yours, wanted))
    expect_equal(mine, right, f"the names in {call}", suspects=names)
    for (name, norm, state), (_, right, expected) in zip(yours, wanted, strict=True):
        if norms:
            expect_norm(norm, right, name, call)
        cause = {"likely": likely[state]} if state in (likely or {}) else {}
        told = f"wrong state of {name} in {call}, whose norm is {right}"
        expect_that(state == expected, told, yours=repr(state), wanted=repr(expected), **cause)


def test_norms(answer, gen):
    """The norm is that of all numbers, for every shape."""
    grads = [torch.randn(shape, generator=gen) for shape in [(4, 3), (7,), (1,), (2, 3, 4), (6, 5)]]
    model = with_gradients(*grads)
    for (name, norm, _), (_, p) in zip(rows(answer, model), model.named_parameters(), strict=True):
        wanted = p.grad.double().square().sum().sqrt().item()
        expect_norm(norm, wanted, name, f"{CALL} of shape {tuple(p.shape)}", p.grad, p.detach())


STATES = {  # the gradient, its norm, and what people take it for
    "frozen": (None, None, {"none": "ask for `requires_grad` where there is no gradient"}),
    "none": (None, None, {"zero": "no gradient is not a gradient of zeros"}),
    "nonfinite": (
        [3.0, NAN],
        NAN,
        {"ok": "no comparison with NaN is True", "zero": "no comparison with NaN is True"},
    ),
    "exploding": ([[1e4], [0.0]], 1e4, {"ok": "the norm is above `limit`, which is 1000 by default"}),
    "zero": ([0.0, 0.0, 0.0], 0.0, {"ok": "every number is 0", "none": "a gradient of zeros is a gradient"}),
    "ok": ([1e-5, 0.0], 1e-5, {"zero": "one number that is not 0 is enough, however small"}),
}


@pytest.mark.parametrize("state", STATES)
def test_each_state(answer, state):
    """Each gradient gets its state."""
    grad, norm, likely = STATES[state]
    model = with_gradients([3.0, 4.0], grad, [0.6, 0.8])
    model.p1.requires_grad_(state != "frozen")
    wanted = [("p0", 5.0, "ok"), ("p1", norm, state), ("p2", 1.0, "ok")]
    expect_rows(rows(answer, model), wanted, likely=likely, norms=False)


def test_inf(answer):
    """A gradient with inf among its numbers is not finite, even if it is above the limit."""
    wanted = [("p0", INF, "nonfinite"), ("p1", INF, "nonfinite")]
    likely = {"exploding": "inf is above the limit, too: ask for it first", "ok": "inf is not finite either"}
    expect_rows(rows(answer, with_gradients([INF, 1.0], [-INF])), wanted, likely=likely, norms=False)


def test_sums_that_cancel(answer):
    """A gradient whose numbers add up to 0 is not zero."""
    likely = {"zero": "the sum of the numbers is 0, and they are not"}
    expect_rows(rows(answer, with_gradients([3.0, -3.0])), [("p0", 18**0.5, "ok")], likely=likely)


def test_limit(answer):
    """A gradient explodes where its norm is above the limit."""
    model = with_gradients([3.0, 4.0], [600.0, 801.0], [600.0, 800.0], [0.0])
    cases = {
        1000.0: ["ok", "exploding", "ok", "zero"],
        5.0: ["ok", "exploding", "exploding", "zero"],
        2.0: ["exploding", "exploding", "exploding", "zero"],
        1e4: ["ok", "ok", "ok", "zero"],
    }
    at = "a norm of just the limit is not above it"
    largest = "the limit is for the norm, not for the largest number"
    for limit, wanted in cases.items():
        given = zip((5.0, 1e3 + 0.8, 1e3, 0.0), (4.0, 801.0, 800.0, 0.0), wanted, strict=True)
        suspects = {
            at: lambda limit=limit, wanted=wanted, given=tuple(given): [
                "exploding" if norm >= limit else state for norm, _, state in given
            ],
            largest: lambda limit=limit: [
                "exploding" if top > limit else "zero" if top == 0 else "ok"
                for top in (4.0, 801.0, 800.0, 0.0)
            ],
            "the default limit is used": lambda: cases[1000.0],
        }
        states = [state for _, _, state in rows(answer, model, limit=limit)]
        expect_equal(
            states, wanted, f"the states of norms 5, 1000.8, 1000 and 0 with {limit=}", suspects=suspects
        )


class Tied(nn.Module):
    """The head is the embedding, and one layer is never called."""

    def __init__(self):
        super().__init__()
        self.head, self.embed = nn.Linear(3, 5, bias=False), nn.Embedding(5, 3)
        self.embed.weight = self.head.weight
        self.body, self.spare = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), nn.Linear(2, 2)

    def forward(self, ids):
        return self.head(self.body(self.embed(ids)))


def test_after_a_backward(answer, gen):
    """After a backward each parameter has one row, in order: a shared and an unused one, too."""
    model = Tied()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    model(torch.tensor([0, 1, 4, 2])).square().mean().backward()
    wanted = [
        (name, *((p.grad.double().norm().item(), "ok") if p.grad is not None else (None, "none")))
        for name, p in model.named_parameters()
    ]
    every = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    twice = {"a shared parameter has a row for each of its names: one is enough": lambda: every}
    expect_rows(rows(answer, model, limit=1e6), wanted, names=twice)


@pytest.mark.fine
def test_frozen_with_a_gradient(answer):
    """A frozen parameter that still has a gradient is judged by it."""
    model = with_gradients([3.0, 4.0], [0.0], [NAN], [1e5]).requires_grad_(False)
    wanted = [("p0", 5.0, "ok"), ("p1", 0.0, "zero"), ("p2", NAN, "nonfinite"), ("p3", 1e5, "exploding")]
    likely = {"frozen": "it has a gradient, which an optimizer would apply"}
    expect_rows(rows(answer, model), wanted, f"{CALL} of frozen parameters with gradients", likely)


EXTREME = {
    torch.float16: (6e4, 300.0, 6e-8),
    torch.bfloat16: (1e20, 3e38, 1e-30),
    torch.float32: (1e20, 3e38, 1e-20, 1e-38, 1e-44),
}


@pytest.mark.fine
@pytest.mark.parametrize("dtype", EXTREME, ids=str)
def test_extreme_numbers(answer, dtype):
    """Norms are right where they, or the squares, do not fit into the dtype."""
    model = with_gradients(*([n, -n] * 500 for n in EXTREME[dtype]), dtype=dtype)
    exact = [p.grad.double()[0].item() * math.sqrt(1000) for p in model.parameters()]
    wanted = [(f"p{i}", norm, "exploding" if norm > 1e3 else "ok") for i, norm in enumerate(exact)]
    expect_rows(rows(answer, model), wanted, f"{CALL} of 1000 numbers in {dtype}")


@pytest.mark.fine
def test_precision(answer, gen):
    """In half precision, too, the norm has the digits of float32."""
    for dtype in (torch.float16, torch.bfloat16):
        grads = [torch.randn(64, 33, generator=gen).to(dtype), torch.randn(5, generator=gen).to(dtype)]
        wanted = [(f"p{i}", g.double().norm().item(), "ok") for i, g in enumerate(grads)]
        expect_rows(rows(answer, with_gradients(*grads, dtype=dtype)), wanted, f"{CALL} in {dtype}")


@pytest.mark.fine
def test_nan_outweighs_inf(answer):
    """A norm is NaN where NaN is among the numbers, with inf beside it, too."""
    expect_rows(
        rows(answer, with_gradients([INF, NAN], [NAN, 0.0])), [(f"p{i}", NAN, "nonfinite") for i in (0, 1)]
    )


@pytest.mark.fine
def test_nothing_changes(answer, gen):
    """Gradients, their graphs and the model are as before."""
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
    loss = model(torch.randn(4, 3, generator=gen)).square().sum()
    params = list(model.parameters())
    for p, grad in zip(params, torch.autograd.grad(loss, params, create_graph=True), strict=True):
        p.grad = grad
    model[2].eval()
    grads = [p.grad for p in params]
    values = [g.detach().clone() for g in grads]
    rows(answer, model, limit=1e-6)
    for p, grad, value in zip(params, grads, values, strict=True):
        expect_that(p.grad is grad, "a gradient is another tensor afterwards, or is gone")
        expect_close(grad.detach(), value, "a gradient afterwards")
        expect_that(grad.grad_fn is not None, "the graph of a gradient is gone afterwards")
    expect_equal([m.training for m in model], [True, True, False], "the modes afterwards")


def moved(model, device):
    """Move the parameters and their gradients."""
    for name, p in list(model.named_parameters()):
        there = nn.Parameter(p.detach().to(device))
        there.grad = p.grad.to(device)
        model.register_parameter(name, there)
    return model


@pytest.mark.fine
def test_waits(answer, gen, device):
    """The host waits a fixed number of times, however many parameters there are."""
    waits = {}
    for count in (4, 16):
        model = moved(with_gradients(*[torch.randn(2 + i, generator=gen) for i in range(count)]), device)
        with count_traffic() as traffic:
            rows(answer, model)
        waits[count] = traffic.syncs
    told = f"{waits[4]} waits for 4 gradients, {waits[16]} for 16"
    likely = "collect the norms as tensors, `torch.stack` those of a device, and one `tolist()`"
    expect_that(waits[16] <= waits[4], "the host waits for each parameter", yours=told, likely=likely)


@pytest.mark.fine
def test_two_devices(answer, device):
    """Parameters may be on several devices."""
    model = with_gradients([3.0, 4.0], [1.0], [7.0])
    model.p1 = nn.Parameter(torch.ones(1, device=device))
    model.p1.grad = torch.full((1,), 2.0, device=device)
    wanted = [("p0", 5.0, "ok"), ("p1", 2.0, "ok"), ("p2", 7.0, "ok")]
    expect_rows(rows(answer, model), wanted, f"{CALL} on two devices")


def oracle(answer, gen):
    def drawn(gen, *shape, scale=1.0):
        return torch.randn(shape, generator=gen) * scale

    def ordinary(gen):
        sizes = torch.randint(1, 9, (5, 2), generator=gen).tolist()
        return rows(
            answer, with_gradients(*(drawn(gen, *size, scale=0.1**n) for n, size in enumerate(sizes)))
        )

    def double(gen):
        sizes = torch.randint(1, 9, (4,), generator=gen).tolist()
        model = with_gradients(*(drawn(gen, size).double() for size in sizes), dtype=torch.float64)
        return rows(answer, model)

    def mixed(gen):
        kinds = [
            lambda: drawn(gen, 6),
            lambda: None,
            lambda: drawn(gen, 8, scale=1e6),
            lambda: torch.zeros(2),
            lambda: [1.0, INF],
            lambda: drawn(gen, 9, scale=1e5),
        ]
        chosen = torch.randint(len(kinds), (9,), generator=gen).tolist()
        return rows(answer, with_gradients(*(kinds[n]() for n in chosen)), limit=500.0)

    def norms(found):
        return [norm for _, norm, _ in found]

    def states(found):
        return [(name, state) for name, _, state in found]

    return {
        "the norms of ordinary gradients": lambda gen: norms(ordinary(gen)),
        "the norms of gradients in float64": lambda gen: norms(double(gen)),
        "the norms where some are missing, dead or explode": lambda gen: norms(mixed(gen)),
        "the states where some are missing, dead or explode": lambda gen: states(mixed(gen)),
        "more states": lambda gen: states(mixed(gen)),
    }
