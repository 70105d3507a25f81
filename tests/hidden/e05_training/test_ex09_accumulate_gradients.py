"""What grades accumulated_step: whole-batch steps, missing gradients, empty pieces, graphs, the device."""

import copy
import math
import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_raises,
    expect_that,
    marked,
    modes_kept,
)
from grader.checks.devices import count_traffic

CALL = "accumulated_step(model, loss_fn, optimizer, pieces)"

OPTIMIZERS = {
    "SGD with momentum": lambda groups: torch.optim.SGD(groups, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda groups: torch.optim.AdamW(groups, lr=0.05, weight_decay=0.1),
}
SIZES = [(4, 4, 3), (1, 5), (6,), (2, 1, 1, 4), (0, 3, 0, 2), (2, *[1] * 16)]


class Net(nn.Module):
    """3 features, 2 outputs; the gate is used only where the first feature is large."""

    def __init__(self, gen, dtype=torch.float64):
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 2)
        self.gate, self.unused = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))
        self.to(dtype)
        self.runs = []
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(torch.randn(p.shape, generator=gen))

    def forward(self, x):
        self.runs.append(x.shape[0])
        out = self.last(self.first(x).tanh())
        return out * self.gate if x.shape[0] > 3 else out

    def groups(self):
        return [
            {"params": [*self.first.parameters(), self.gate], "lr": 0.2},
            {"params": [*self.last.parameters(), self.unused]},
        ]


def pieces_of(gen, sizes, dtype=torch.float64):
    return [
        (torch.randn(n, 3, generator=gen).to(dtype), torch.randn(n, 2, generator=gen).to(dtype))
        for n in sizes
    ]


def whole_loss(model, pieces):
    """The mean over all examples, in one graph."""
    losses = [(model(x) - y).square().mean(1) for x, y in pieces if len(y)]
    return torch.cat(losses).mean()


def whole_step(model, optimizer, pieces):
    """The step that the batch takes in one graph."""
    optimizer.zero_grad()
    loss = whole_loss(model, pieces)
    loss.backward()
    optimizer.step()
    return loss.item()


def expect_loss(yours, wanted, of, rel_tol=1e-9):
    expect_equal(type(yours).__name__, "float", f"the type of {of}")
    close = math.isclose(yours, wanted, rel_tol=rel_tol)
    expect_that(close, f"wrong loss from {of}", yours=f"{yours!r}", wanted=f"{wanted!r}")


def expect_weights(model, twin, when, ulps=None):
    for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
        wanted = right.detach().to(p.device)
        expect_close(p.detach(), wanted, f"{name} after {when}", scale=10.0, ulps=ulps)


def test_without_gradient(answer, gen):
    """A parameter that no piece uses, or that is frozen, stays where it is despite momentum and decay."""
    model = Net(gen)
    optimizer = OPTIMIZERS["AdamW"](model.groups())
    answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (5, 4)))  # the gate gets momentum
    model.last.bias.requires_grad_(False)
    still = {"gate": model.gate, "unused": model.unused, "last.bias, which is frozen,": model.last.bias}
    before = {name: p.detach().clone() for name, p in still.items()}
    answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (3, 2, 3)))
    for name, p in still.items():
        expect_that(p.grad is None, f"{name} has a gradient, though no piece gives it one", yours=p.grad)
        expect_equal(p.detach(), before[name], f"{name} after a step in which no piece uses it")
    expect_equal(model.last.bias.requires_grad, False, "requires_grad of the frozen parameter afterwards")


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_steps_of_the_whole_batch(answer, gen, kind):
    """Step after step, in pieces of any sizes, losses and weights are those of the whole batch."""
    model = Net(gen)
    twin = copy.deepcopy(model)
    right, optimizer = OPTIMIZERS[kind](twin.groups()), OPTIMIZERS[kind](model.groups())
    for sizes in SIZES:
        pieces = pieces_of(gen, sizes)
        wanted = whole_step(twin, right, pieces)
        yours = answer.accumulated_step(model, F.mse_loss, optimizer, pieces)
        expect_loss(yours, wanted, f"a step with pieces of {sizes}")
        # AdamW's division enlarges the rounding of small gradients
        expect_weights(model, twin, f"a step of {kind} with pieces of {sizes}", ulps=1e5)


def test_gradients_stay(answer, gen):
    """Afterwards `.grad` holds the gradient of the whole batch, without what lay there before."""
    for sizes in SIZES:
        model, pieces = Net(gen), pieces_of(gen, sizes)
        temperature = nn.Parameter(torch.tensor(1.5, dtype=torch.float64))
        names = ["temperature, which loss_fn holds", *dict(model.named_parameters())]
        params = [temperature, *model.parameters()]
        losses = [(model(x) / temperature - y).square().mean(1) for x, y in pieces if len(y)]
        wanted = torch.autograd.grad(torch.cat(losses).mean(), params, allow_unused=True)
        for p in params:
            p.grad = torch.full_like(p, 10.0)
        answer.accumulated_step(
            model,
            lambda out, y, t=temperature: F.mse_loss(out / t, y),
            torch.optim.SGD(params, lr=0.1),
            pieces,
        )
        for name, p, right in zip(names, params, wanted, strict=True):
            if right is None:
                expect_that(p.grad is None, f"{name}, which no piece uses, has a gradient", yours=p.grad)
            else:
                lost = f"`.grad` of {name} is None after {CALL}"
                expect_that(p.grad is not None, lost, likely="it was cleared after the step")
                expect_gradient(p.grad, right, f"{name} with pieces of {sizes}", scale=10.0)


def test_runs(answer, gen):
    """Model and loss run once on each piece, in order; the optimizer steps once, at the end."""
    model, events = Net(gen), []
    model.register_forward_hook(lambda *_: events.append("model"))
    optimizer = OPTIMIZERS["AdamW"](model.groups())
    optimizer.register_step_post_hook(lambda *_: events.append("step"))
    pieces, seen = pieces_of(gen, (2, 4, 1)), []
    given = list(pieces)

    def loss_fn(out, targets):
        events.append("loss")
        seen.append(targets)
        return F.mse_loss(out, targets)

    answer.accumulated_step(model, loss_fn, optimizer, pieces)
    expect_equal(len(pieces), 3, f"the number of pieces in the caller's list after {CALL}")
    expect_equal(model.runs, [2, 4, 1], "the numbers of examples that the model runs on, one after another")
    expect_equal(events, ["model", "loss"] * 3 + ["step"], f"what runs in {CALL}, in order")
    expect_equal(seen, [targets for _, targets in given], "the targets that loss_fn is given")


def test_token_numbers(answer, gen):
    """Token and class numbers are passed on as they are; the rows of the targets count."""
    embedding, head = nn.Embedding(6, 4).double(), nn.Linear(4, 3).double()
    model = nn.Sequential(embedding, head)
    twin = copy.deepcopy(model)
    pieces = tuple(
        [torch.randint(0, 6, (n, 5), generator=gen), torch.randint(0, 3, (n, 5), generator=gen)]
        for n in (4, 1)
    )

    def loss_fn(logits, labels):
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

    tokens, labels = (torch.cat(part) for part in zip(*pieces, strict=True))
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.5)
    wanted = loss_fn(twin(tokens), labels)
    wanted.backward()
    optimizer.step()
    yours = answer.accumulated_step(model, loss_fn, torch.optim.SGD(model.parameters(), lr=0.5), pieces)
    expect_loss(yours, wanted.item(), f"{CALL} with tokens")
    expect_weights(model, twin, "a step with tokens")


def test_empty_pieces(answer, gen):
    """A piece without examples, wherever it stands, is passed over: neither model nor loss sees it."""
    for sizes in [(0, 3, 2), (3, 2, 0), (2, 0, 0, 5), (0, 1)]:
        model, pieces = Net(gen), pieces_of(gen, sizes)
        twin = copy.deepcopy(model)
        wanted = whole_step(twin, OPTIMIZERS["AdamW"](twin.groups()), pieces)
        optimizer = OPTIMIZERS["AdamW"](model.groups())
        yours = answer.accumulated_step(model, F.mse_loss, optimizer, pieces)
        expect_equal(model.runs, [n for n in sizes if n], f"the pieces of {sizes} that the model runs on")
        expect_loss(yours, wanted, f"a step with pieces of {sizes}")
        expect_weights(model, twin, f"a step with pieces of {sizes}", ulps=1e5)


def test_no_example(answer, gen):
    """Without any example ValueError is raised, and weights, gradients and momentum are as before."""
    for sizes in [(), (0,), (0, 0)]:
        model = Net(gen)
        optimizer = OPTIMIZERS["SGD with momentum"](model.groups())
        answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (5, 2)))
        before = [
            (p.detach().clone(), None if p.grad is None else p.grad.clone()) for p in model.parameters()
        ]
        momentum = copy.deepcopy(optimizer.state_dict()["state"])
        model.runs.clear()
        pieces = pieces_of(gen, sizes)
        call = f"{CALL} with pieces of {sizes}"
        expect_raises(
            ValueError,
            lambda m=model, o=optimizer, p=pieces: answer.accumulated_step(m, F.mse_loss, o, p),
            call,
        )
        expect_equal(model.runs, [], f"the pieces that the model runs on in {call}")
        for (name, p), (was, gradient) in zip(model.named_parameters(), before, strict=True):
            expect_equal(p.detach(), was, f"{name} after {call}")
            lost = gradient is not None and p.grad is None
            expect_that(not lost, f"the gradient of {name} is cleared, though {call} raises")
            expect_equal(p.grad, gradient, f"the gradient of {name} after {call}")
        expect_equal(optimizer.state_dict()["state"], momentum, f"the optimizer's state after {call}")


def test_one_graph_at_a_time(answer, gen):
    """When the model runs on a piece, nothing of the graphs of earlier pieces is alive."""
    model, pieces = Net(gen), pieces_of(gen, (4, 2, 3))
    saved, alive = [], []

    class Kept:
        def __init__(self, tensor):
            self.tensor = tensor

    def pack(tensor):
        kept = Kept(tensor)
        saved.append(weakref.ref(kept))
        return kept

    def look(*_):
        alive.append(sum(ref() is not None for ref in saved))

    model.register_forward_pre_hook(look)
    optimizer = OPTIMIZERS["AdamW"](model.groups())
    optimizer.register_step_pre_hook(look)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        answer.accumulated_step(model, F.mse_loss, optimizer, pieces)
    expect_equal(
        alive, [0, 0, 0, 0], "the activations of earlier pieces alive before each piece, and before the step"
    )
    expect_that(
        all(p.grad is None or not p.grad.requires_grad for p in model.parameters()),
        "the gradients carry a graph of their own",
    )


def test_graphs_do_not_pile_up(answer, gen):
    """The graphs of the pieces are let go: neither the loss that is added up nor a list holds them."""
    model, marks, alive = Net(gen), [], []

    def look(_layer, _inputs, out):
        alive.append(sum(mark() is not None for mark in marks))
        out, mark = marked(out)
        marks.append(mark)
        return out

    model.first.register_forward_hook(look)
    optimizer = OPTIMIZERS["AdamW"](model.groups())
    answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (2, 2, 3, 1, 2)))
    expect_that(
        max(alive) <= 1,  # the last one may still have a name
        "the graphs of earlier pieces are alive when the model runs on another",
        yours=f"{max(alive)} graphs",
        likely="a sum of losses that carry their graphs: add up loss.detach()",
    )


def test_dtypes(answer, gen):
    """Losses in float64 keep their digits, and gradients have the dtype of their parameters."""
    for dtype, digits in ((torch.float64, 1e-13), (torch.float32, 1e-5)):
        model, pieces = Net(gen, dtype), pieces_of(gen, (4, 1, 2), dtype)
        wanted = whole_loss(model, pieces).item()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        yours = answer.accumulated_step(model, F.mse_loss, optimizer, pieces)
        expect_loss(yours, wanted, f"{CALL} in {dtype}", digits)
        found = {str(p.grad.dtype) for p in model.parameters() if p.grad is not None}
        expect_equal(found, {str(dtype)}, "the dtypes of the gradients")


def test_modes(answer, gen):
    """Each layer runs in the mode it is in, and keeps it."""
    for training in (True, False):
        norm, drop = nn.BatchNorm1d(3), nn.Dropout(0.5)
        model = nn.Sequential(norm, drop, nn.Linear(3, 2)).double().train(training)
        drop.train(not training)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with modes_kept(CALL, model):
            answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (4, 3)))
        ran = int(norm.num_batches_tracked)
        expect_equal(ran, 2 * training, "the pieces that went into the batch norm's statistics")


def test_nothing_else(answer, gen):
    """Large gradients are not clipped, and a loss of inf or NaN stops nothing."""
    model, pieces = Net(gen), pieces_of(gen, (4, 2))
    twin = copy.deepcopy(model)
    loud = [(1e4 * x, 1e6 * y) for x, y in pieces]
    whole_step(twin, torch.optim.SGD(twin.parameters(), lr=1e-3), loud)
    answer.accumulated_step(model, F.mse_loss, torch.optim.SGD(model.parameters(), lr=1e-3), loud)
    for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
        expect_close(p.detach(), right.detach(), f"{name} after a step with large gradients", scale=1e4)
    for bad in (math.inf, math.nan):
        model, steps = Net(gen), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.register_step_post_hook(lambda *_, s=steps: s.append(1))
        loss = answer.accumulated_step(
            model, lambda out, _, bad=bad: (out * bad).square().mean(), optimizer, pieces
        )
        expect_equal(loss, bad, f"{CALL} where the loss is {bad}")
        late = [pieces[0], (pieces[1][0], pieces[1][1] * bad)]
        loss = answer.accumulated_step(twin, F.mse_loss, torch.optim.SGD(twin.parameters(), lr=1e-3), late)
        expect_equal(loss, bad, f"{CALL} where the loss of the second piece is {bad}")
        expect_equal(len(steps), 1, f"the steps of the optimizer where the loss is {bad}")


def test_on_a_device(answer, gen, device):
    """On another device the step is the same, and the host waits once, for the float."""
    model, pieces = Net(gen, torch.float32), pieces_of(gen, (4, 0, 2, 1), torch.float32)
    twin = copy.deepcopy(model)
    wanted = whole_step(twin, torch.optim.SGD(twin.parameters(), lr=0.1), pieces)
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    there = [(x.to(device), y.to(device)) for x, y in pieces]
    with count_traffic() as traffic:
        yours = answer.accumulated_step(model, F.mse_loss, optimizer, there)
    expect_loss(yours, wanted, f"{CALL} on another device", 1e-5)
    expect_equal(traffic.syncs, 1, f"the times that the host waits for the device in {CALL}")
    expect_weights(model, twin, "a step on another device")


def test_uneven_shapes(answer, gen):
    """An example is a row of the targets: neither its width nor the inputs' first dimension counts."""
    weight = nn.Parameter(torch.randn(3, 4, generator=gen).double())

    class TimeFirst(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = weight

        def forward(self, x):
            return x.mean(0) @ self.weight  # (batch, 4)

    sizes = [(5, 1, 4), (1, 4, 2), (3, 2, 1)]  # time, batch, labels
    pieces = [
        (torch.randn(t, n, 3, generator=gen).double(), torch.randn(n, k, generator=gen).double())
        for t, n, k in sizes
    ]
    loss_fn = lambda out, y: (out[:, : y.shape[1]] - y).square().mean()  # noqa: E731
    wanted = sum(loss_fn(x.mean(0) @ weight, y) * len(y) for x, y in pieces) / 7
    (right,) = torch.autograd.grad(wanted, [weight])
    model = TimeFirst()
    yours = answer.accumulated_step(model, loss_fn, torch.optim.SGD([weight], lr=0.1), pieces)
    expect_loss(yours, wanted.item(), f"{CALL} with inputs (time, batch, features)")
    expect_gradient(weight.grad, right, "the weight, with inputs (time, batch, features)", scale=10.0)
    pieces = [(x, y[:, : i % 2]) for i, (x, y) in enumerate(pieces)]
    wanted = sum((x.mean(0) @ weight).square().mean() * len(y) for x, y in pieces) / 7
    optimizer = torch.optim.SGD([weight], lr=0.1)
    yours = answer.accumulated_step(model, lambda out, _: out.square().mean(), optimizer, pieces)
    expect_loss(yours, wanted.item(), f"{CALL} with targets of one column or none")


def oracle(answer, gen):
    model, results = Net(gen), []
    optimizer = OPTIMIZERS["SGD with momentum"](model.groups())
    for sizes in SIZES:
        results.append(answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, sizes)))
        results += [None if p.grad is None else p.grad.clone() for p in model.parameters()]
        results += [p.detach().clone() for p in model.parameters()]
    return results
