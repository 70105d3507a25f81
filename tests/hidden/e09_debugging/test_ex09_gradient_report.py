"""What grades gradient_report: states, norms at the edges of each dtype, sparse gradients, waits."""

import math

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that
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


def rows(answer, model, *limit, **options):
    """Plain data."""
    report = answer.gradient_report(model, *limit, **options)
    return [(str(row.name), row.norm, str(row.state)) for row in report]


def expect_rows(yours, wanted, call=CALL, rel_tol=1e-5):
    expect_equal([name for name, _, _ in yours], [name for name, _, _ in wanted], f"the names in {call}")
    for (name, norm, state), (_, right, expected) in zip(yours, wanted, strict=True):
        kind = "NoneType" if right is None else "float"
        expect_equal(type(norm).__name__, kind, f"the type of the norm of {name} in {call}")
        close = norm == right or (norm is not None and math.isclose(norm, right, rel_tol=rel_tol))
        both_nan = norm is not None and right is not None and math.isnan(norm) and math.isnan(right)
        expect_that(close or both_nan, f"wrong norm of {name} in {call}", yours=str(norm), wanted=str(right))
        expect_equal(state, expected, f"the state of {name} (norm {norm}) in {call}")


def test_each_state(answer):
    """Each gradient gets its state, in the order of the parameters."""
    model = with_gradients([3.0, 4.0], None, [0.0, 0.0, 0.0], [[1e4], [0.0]], [NAN, 1.0], None, [0.0, 1e-9])
    model.p5.requires_grad_(False)
    wanted = [
        ("p0", 5.0, "ok"),
        ("p1", None, "none"),
        ("p2", 0.0, "zero"),
        ("p3", 1e4, "exploding"),
        ("p4", NAN, "nonfinite"),
        ("p5", None, "frozen"),
        ("p6", 1e-9, "ok"),
    ]
    expect_rows(rows(answer, model), wanted)
    expect_equal(rows(answer, nn.Tanh()), [], "gradient_report(nn.Tanh())")
    wanted = [("p0", 0.0, "zero"), ("p1", 2.0, "ok")]
    expect_rows(rows(answer, with_gradients([], [2.0])), wanted, f"{CALL} with a parameter of no numbers")


def test_limit(answer):
    """A gradient explodes where its norm is above the limit, which is 1000 by default."""
    model = with_gradients([3.0, 4.0], [600.0, 801.0], [600.0, 800.0], [0.0], [0.3, 0.4], [1e9])
    cases = {
        (): ["ok", "exploding", "ok", "zero", "ok", "exploding"],
        (0.45,): ["exploding", "exploding", "exploding", "zero", "exploding", "exploding"],
        (5.0,): ["ok", "exploding", "exploding", "zero", "ok", "exploding"],
        (INF,): ["ok", "ok", "ok", "zero", "ok", "ok"],
        (0,): ["exploding", "exploding", "exploding", "zero", "exploding", "exploding"],
    }
    for limit, wanted in cases.items():
        states = [state for _, _, state in rows(answer, model, *limit)]
        expect_equal(
            states, wanted, f"the states with {f'limit={limit[0]}' if limit else 'the default limit'}"
        )
    states = [state for _, _, state in rows(answer, with_gradients([INF], [NAN], [5.0]), limit=1.0)]
    expect_equal(states, ["nonfinite", "nonfinite", "exploding"], "the states with limit=1.0")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_norms(answer, gen, dtype):
    """The norm is right for every shape and dtype, to float32's precision at least."""
    shapes = [(), (1,), (7,), (3, 5), (2, 3, 4), (64, 33)]
    grads = [torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype) for shape in shapes]
    wanted = [(f"p{i}", g.double().square().sum().sqrt().item(), "ok") for i, g in enumerate(grads)]
    expect_rows(rows(answer, with_gradients(*grads, dtype=dtype)), wanted, f"{CALL} in {dtype}")


def test_extreme_numbers(answer):
    """Norms are right where squares or sums do not fit into the dtype."""
    half = with_gradients([6e4] * 4, [300.0] * 1000, [6e-8] * 4, dtype=torch.float16)
    exact = [math.sqrt(4) * 60000, 300 * math.sqrt(1000), 2 * 2.0**-24]
    wanted = [(f"p{i}", n, s) for i, (n, s) in enumerate(zip(exact, ["ok"] * 3, strict=True))]
    expect_rows(rows(answer, half, limit=1e6), wanted, f"{CALL} in float16")
    for dtype, numbers in [
        (torch.float32, (1e20, 3e38, 1e-20, 1e-38)),
        (torch.bfloat16, (1e20, 3e38, 1e-20, 1e-30)),
        (torch.float64, (1e20, 1e100, 1e-20, 1e-100)),
    ]:
        model = with_gradients(*([n, 0.0, -n] for n in numbers), dtype=dtype)
        exact = [p.grad.double()[0].item() * math.sqrt(2) for p in model.parameters()]
        states = ["exploding", "exploding", "ok", "ok"]
        wanted = [(f"p{i}", n, s) for i, (n, s) in enumerate(zip(exact, states, strict=True))]
        expect_rows(rows(answer, model), wanted, f"{CALL} in {dtype}")
    tiny = with_gradients([1e-44, 1e-44])
    expect_equal(rows(answer, tiny)[0][2], "ok", "the state of a gradient of 1e-44")


def test_nonfinite(answer):
    """One NaN or inf is enough, wherever it is; NaN outweighs inf."""
    cases = [([1.0, NAN], NAN), ([INF, 0.0], INF), ([-INF], INF), ([INF, -INF, 1.0], INF), ([INF, NAN], NAN),
             ([0.0, NAN, 0.0], NAN)]  # fmt: skip
    for dtype in (torch.float32, torch.float16):
        model = with_gradients(*[grad for grad, _ in cases], dtype=dtype)
        expect_rows(rows(answer, model), [(f"p{i}", n, "nonfinite") for i, (_, n) in enumerate(cases)])


def test_frozen(answer):
    """A frozen parameter is frozen, unless it still has a gradient, which is judged as any other."""
    model = with_gradients(None, [3.0, 4.0], [0.0], [NAN], [1e5], None)
    for p in list(model.parameters())[:-1]:
        p.requires_grad_(False)
    wanted = [("p0", None, "frozen"), ("p1", 5.0, "ok"), ("p2", 0.0, "zero"), ("p3", NAN, "nonfinite"),
              ("p4", 1e5, "exploding"), ("p5", None, "none")]  # fmt: skip
    expect_rows(rows(answer, model), wanted)


class Tied(nn.Module):
    """The head is the embedding, a layer stands in two places, and one is never called."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 5, bias=False)
        self.body = nn.ModuleList([nn.Linear(3, 3), nn.ReLU()])
        self.again = self.body[0]
        self.embed = nn.Embedding(5, 3)
        self.embed.weight = self.head.weight
        self.norm = nn.BatchNorm1d(3)
        self.spare = nn.Linear(2, 2)

    def forward(self, ids):
        x = self.again(self.body[1](self.body[0](self.embed(ids))))
        return self.head(self.norm(x) * 0.1)


def test_shared_and_unused(answer, gen):
    """A shared parameter has one row, under its first name; one that no loss depends on has none to show."""
    model = Tied()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    (model(torch.tensor([0, 1, 4, 2])) ** 2).mean().backward()
    wanted = []
    for name, p in model.named_parameters():
        norm = None if p.grad is None else p.grad.double().norm().item()
        state = "none" if norm is None else "zero" if norm == 0 else "ok"
        wanted.append((name, norm, state))
    expect_equal(
        [name for name, norm, _ in wanted if norm is None], ["spare.weight", "spare.bias"], "the unused ones"
    )
    expect_rows(rows(answer, model), wanted)


def test_dead_units(answer):
    """A layer behind dead units has gradients of zero, one before the loss has real ones."""
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    nn.init.constant_(model[0].bias, -100.0)
    model(torch.ones(2, 3)).square().sum().backward()
    states = [state for _, _, state in rows(answer, model)]
    expect_equal(states, ["zero", "zero", "zero", "ok"], f"the states in {CALL} with dead units")


def test_sparse(answer):
    """Sparse gradients are read as they are meant: entries of the same row add up."""
    model = nn.Sequential(nn.Embedding(6, 2, sparse=True), nn.Linear(2, 2))
    weights = torch.tensor([[3.0, 4.0], [3.0, 4.0], [0.0, 1.0], [1.0, 0.0]])
    (model[0](torch.tensor([1, 1, 5, 0])) * weights).sum().backward()
    sums = math.sqrt(36 + 64 + 1 + 1)
    before = model[0].weight.grad.is_coalesced()
    wanted = [("0.weight", sums, "ok"), ("1.weight", None, "none"), ("1.bias", None, "none")]
    expect_rows(rows(answer, model), wanted, f"{CALL} with a sparse gradient")
    expect_rows(rows(answer, model, limit=10.0)[:1], [("0.weight", sums, "exploding")], "with limit=10.0")
    expect_equal(model[0].weight.grad.is_sparse, True, "is_sparse of the gradient afterwards")
    expect_equal(model[0].weight.grad.is_coalesced(), before, "is_coalesced() of the gradient afterwards")
    model[0].double()
    tiny = torch.tensor([[1e-100, 0.0], [2e-100, 4e-100]], dtype=torch.float64)
    model[0].weight.grad = torch.sparse_coo_tensor(
        torch.tensor([[3, 3]]), tiny, (6, 2), check_invariants=True
    )
    expect_rows(
        rows(answer, model)[:1], [("0.weight", 5e-100, "ok")], f"{CALL} with a sparse float64 gradient"
    )
    model[0].half().weight.grad = torch.sparse_coo_tensor(
        torch.tensor([[3, 3]]), torch.tensor([[4e4, 0.0], [4e4, 0.0]]).half(), (6, 2), check_invariants=True
    )
    expect_rows(
        rows(answer, model, limit=1e5)[:1],
        [("0.weight", 8e4, "ok")],
        f"{CALL} with 40000 + 40000 in a sparse float16 gradient",
    )
    grad = torch.sparse_coo_tensor(
        torch.tensor([[3, 3]]),
        torch.tensor([[256.0, 0.0], [1.0, 0.0]]).bfloat16(),
        (6, 2),
        check_invariants=True,
    )
    model[0].bfloat16().weight.grad = grad
    wanted = [("0.weight", 257.0, "ok")]  # which bfloat16 does not hold
    expect_rows(rows(answer, model)[:1], wanted, f"{CALL} with 256 + 1 in a sparse bfloat16 gradient")
    model[0].float().weight.grad = None
    empty = torch.sparse_coo_tensor(
        torch.zeros(1, 0, dtype=torch.long), torch.zeros(0, 2), (6, 2), check_invariants=True
    )
    numbers = torch.tensor([[1.0, 2.0], [-1.0, -2.0]])
    cancels = torch.sparse_coo_tensor(torch.tensor([[2, 2]]), numbers, (6, 2), check_invariants=True)
    for grad in (empty, cancels):
        model[0].weight.grad = grad
        expect_rows(rows(answer, model)[:1], [("0.weight", 0.0, "zero")], f"{CALL} with a sparse gradient")


def test_nothing_changes(answer, gen):
    """Gradients, their graphs and the model are as before."""
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
    nn.init.constant_(model[2].bias, 9.0)
    loss = model(torch.randn(4, 3, generator=gen)).square().sum()
    params = list(model.parameters())
    for p, grad in zip(params, torch.autograd.grad(loss, params, create_graph=True), strict=True):
        p.grad = grad
    params[0].grad = None
    model[2].eval()
    grads = [p.grad for p in params]
    values = [None if g is None else g.detach().clone() for g in grads]
    yours = rows(answer, model, limit=1e-6)
    for p, grad, value in zip(params, grads, values, strict=True):
        expect_that(p.grad is grad, "a gradient is another tensor afterwards")
        if grad is not None:
            expect_close(grad.detach(), value, "a gradient afterwards")
            expect_that(grad.grad_fn is not None, "the graph of a gradient is gone afterwards")
        expect_that(p.requires_grad, "requires_grad of a parameter is changed")
    expect_equal([m.training for m in model], [True, True, False], "the modes afterwards")
    wanted = ["none" if v is None else "exploding" for v in values]
    expect_equal([state for _, _, state in yours], wanted, f"the states in {CALL}")


def cast(model, device=None):
    """Give the parameters and their gradients each dtype in turn, or move them."""
    for number, (name, p) in enumerate(list(model.named_parameters())):
        there = device or (torch.float32, torch.float64, torch.float16, torch.bfloat16)[number % 4]
        moved = nn.Parameter(p.detach().to(there))
        moved.grad = None if p.grad is None else p.grad.to(there)
        model.register_parameter(name, moved)


def test_waits(answer, gen, device):
    """The host waits a fixed number of times, however many parameters there are, on whatever devices."""
    waits, by_layers, reports = {}, {}, {}
    for count in (4, 16):
        model = with_gradients(
            *[torch.randn(2 + i % 3, generator=gen) for i in range(count)], None, [0.0], [NAN]
        )
        cast(model)
        wanted = rows(answer, model)
        cast(model, device)
        with count_traffic() as traffic:
            yours = rows(answer, model)
        waits[count], reports[count] = traffic.syncs, (yours, wanted)
        layers = nn.ModuleList(with_gradients([3.0, 4.0] + i * [0.0]) for i in range(count))
        for layer in layers:
            cast(layer, device)
        with count_traffic() as traffic:
            yours = rows(answer, layers)
        by_layers[count] = traffic.syncs
        reports[f"{count} layers"] = yours, [(f"{i}.p0", 5.0, "ok") for i in range(count)]
    for yours, wanted in reports.values():
        expect_rows(yours, wanted, f"{CALL} on another device")
    expect_that(
        waits[16] <= waits[4],
        "the host waits for the device for each parameter",
        yours=f"{waits[4]} waits for 6 gradients, {waits[16]} for 18",
        wanted="the same number",
    )
    expect_that(
        by_layers[16] <= by_layers[4],
        "the host waits for the device for each layer, or each shape",
        yours=f"{by_layers[4]} waits for 4 layers, {by_layers[16]} for 16",
        wanted="the same number",
    )
    model = with_gradients([3.0, 4.0], [1.0], [7.0])
    model.p1 = nn.Parameter(torch.ones(1, device=device))
    model.p1.grad = torch.full((1,), 2.0, device=device)
    wanted = [("p0", 5.0, "ok"), ("p1", 2.0, "ok"), ("p2", 7.0, "ok")]
    expect_rows(rows(answer, model), wanted, f"{CALL} on two devices")


def norms(report):
    """Norms as float32 tensors, and what else there is."""
    return [(name, norm if norm is None else torch.tensor(norm), state) for name, norm, state in report]


def oracle(answer, gen):
    def drawn(*shape, scale=1.0):
        return torch.randn(shape, generator=gen) * scale

    ordinary = [drawn(3, 2), drawn(7), drawn(2, 3, 4), drawn(5, scale=0.01), drawn(1, 6)]
    mixed = [
        drawn(6),
        None,
        drawn(8, scale=1e6),
        torch.zeros(2),
        drawn(4, 3),
        [1.0, INF],
        drawn(9, scale=1e5),
    ]
    double = [drawn(5).double(), drawn(3, 3).double()]
    return {
        "gradients of ordinary size": norms(rows(answer, with_gradients(*ordinary))),
        "some are missing, dead or explode, with limit=500": norms(
            rows(answer, with_gradients(*mixed), limit=500.0)
        ),
        "gradients in float64": norms(rows(answer, with_gradients(*double, dtype=torch.float64))),
    }
