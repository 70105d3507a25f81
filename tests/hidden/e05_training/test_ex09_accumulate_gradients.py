"""What grades accumulated_step: whole-batch steps, what runs, one graph at a time; gradients, corners."""

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
    expect_number,
    expect_raises,
    expect_that,
    marked,
    modes_kept,
)
from grader.checks.registered import randomize, state_of

CALL = "accumulated_step(model, loss_fn, optimizer, pieces)"

OPTIMIZERS = {
    "SGD with momentum": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda params: torch.optim.AdamW(params, lr=0.05, weight_decay=0.1),
}
SIZES = [(4, 4, 3), (1, 5), (6,), (2, 1, 1, 4)]
MISTAKES = {
    "every piece counts alike: weigh each by its number of examples": {
        "share": lambda n, all_: 1 / len(all_)
    },
    "the pieces' gradients are added up as they are, without a weight": {"share": lambda n, all_: 1.0},
    "the last piece alone counts: its backward finds the gradients cleared": {"clear": "piece"},
    "the gradients of earlier calls count as well: nothing clears them": {"clear": ""},
    "the optimizer takes a step after each piece": {"each": True},
    "a piece that is smaller than the first is left out": {
        "share": lambda n, all_: n / sum(all_) * (n >= all_[0])
    },
}


def network(gen, dtype=torch.float32):
    """3 features, 4 hidden units, 2 outputs."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(dtype)
    randomize(model, gen)
    return model


def reader(gen):
    """3 tokens of 6, 2 classes."""
    model = nn.Sequential(nn.Embedding(6, 4), nn.Flatten(), nn.Linear(12, 2))
    randomize(model, gen)
    return model


def pieces_of(gen, sizes, dtype=torch.float32):
    draw = lambda *size: torch.randn(size, generator=gen).to(dtype)  # noqa: E731
    return [(draw(n, 3), draw(n, 2)) for n in sizes]


def texts(gen, sizes):
    draw = lambda high, *size: torch.randint(high, size, generator=gen)  # noqa: E731
    return [(draw(6, n, 3), draw(2, n)) for n in sizes]


def joined(pieces):
    return [(torch.cat([x for x, _ in pieces]), torch.cat([y for _, y in pieces]))]


def written_out(model, loss_fn, kind, steps, share=lambda n, all_: n / sum(all_), clear="step", each=False):
    """The last loss of a loop without any helper; or with a mistake."""
    optimizer = OPTIMIZERS[kind](model.parameters())
    for pieces in steps:
        total, sizes = 0.0, [len(y) for _, y in pieces]
        for number, (x, y) in enumerate(pieces):
            if clear == "piece" or (clear == "step" and number == 0):
                optimizer.zero_grad()
            loss = loss_fn(model(x), y) * share(len(y), sizes)
            loss.backward()
            total += loss.item()
            if each:
                optimizer.step()
        if not each:
            optimizer.step()
    return total


def expect_steps(answer, model, loss_fn, kind, steps):
    """Fail unless losses and weights of each step are those of the whole batch in one piece."""
    start, optimizer = copy.deepcopy(model), OPTIMIZERS[kind](model.parameters())

    def after(steps, **mistake):
        twin = copy.deepcopy(start)
        return written_out(twin, loss_fn, kind, steps, **mistake), state_of(twin)

    for number, pieces in enumerate(steps, start=1):
        (wanted, weights), before = after([joined(step) for step in steps[:number]]), state_of(model)
        losses, rows = [loss_fn(model(x), y).item() for x, y in pieces], sum(len(y) for _, y in pieces)
        yours = answer.accumulated_step(model, loss_fn, optimizer, pieces)
        suspects = {
            "this is the mean of the pieces' losses: weigh each by its number of examples": (
                sum(losses) / len(losses)
            ),
            "the pieces' losses are added up as they are, without a weight": sum(losses),
            "this is the loss of the last piece": losses[-1],
            "this is the share of the last piece": losses[-1] * len(pieces[-1][1]) / rows,
            "this is the sum over all examples": wanted * rows,
        }
        made = {told: lambda loss=loss: loss for told, loss in suspects.items()}
        made |= {told: lambda m=m: after(steps[:number], **m)[0] for told, m in MISTAKES.items()}  # noqa: B023
        where = f"step {number}, in pieces of {[len(y) for _, y in pieces]}, with {kind}"
        expect_number(yours, wanted, f"loss from {where}", rtol=1e-5, suspects=made)
        for name, right in weights.items():
            made = {
                told: lambda number=number, name=name, m=m: after(steps[:number], **m)[1][name]
                for told, m in MISTAKES.items()
            }
            mine = state_of(model)[name]
            expect_close(
                mine, right, f"{name} after {where}", ulps=2e3, scale=1.0, before=before[name], suspects=made
            )


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_steps_of_the_whole_batch(answer, gen, kind):
    """Step after step, losses and weights are those of the whole batch."""
    expect_steps(answer, network(gen), F.mse_loss, kind, [pieces_of(gen, sizes) for sizes in SIZES])


def test_class_numbers(answer, gen):
    """Tokens reach the model, and class numbers the loss, as they are."""
    steps = [texts(gen, sizes) for sizes in [(5, 2), (1, 3, 4)]]
    expect_steps(answer, reader(gen), F.cross_entropy, "SGD with momentum", steps)


def test_what_runs(answer, gen):
    """Model and loss run once on each piece, in order; the optimizer steps once, at the end."""
    model, events, seen = network(gen), [], []
    model[0].register_forward_hook(lambda _layer, given, _out: events.append(len(given[0])))
    optimizer, pieces = OPTIMIZERS["AdamW"](model.parameters()), pieces_of(gen, (2, 4, 1))
    optimizer.register_step_post_hook(lambda *_: events.append("step"))
    targets = [y for _, y in pieces]
    answer.accumulated_step(
        model, lambda out, y: seen.append(y) or F.mse_loss(out, y), optimizer, list(pieces)
    )
    likely = ""
    if 7 in events:
        likely = "the pieces are put together again: that takes the memory of the whole batch"
    elif events.count("step") != 1:
        likely = f"optimizer.step runs {events.count('step')} times, not once at the end"
    wanted = [2, 4, 1, "step"]
    told = f"wrong order of what runs in {CALL} (the model, by its number of examples, and the step)"
    expect_that(events == wanted, told, yours=events, wanted=wanted, likely=likely)
    expect_equal(seen, targets, "the targets that loss_fn is given")


def test_one_graph_at_a_time(answer, gen):
    """When the model runs on a piece, what the graphs of earlier pieces saved is free again."""
    model, saved, alive = network(gen), [], []

    class Kept:
        def __init__(self, tensor):
            self.tensor = tensor

    def pack(tensor):
        kept = Kept(tensor)
        saved.append(weakref.ref(kept))
        return kept

    model[0].register_forward_pre_hook(lambda *_: alive.append(sum(ref() is not None for ref in saved)))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        optimizer = OPTIMIZERS["AdamW"](model.parameters())
        answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (4, 2, 3)))
    expect_that(
        not any(alive),
        "what the graph of a piece saved is alive when the model runs on the next",
        yours=f"{alive} tensors, before each piece",
        wanted="none",
        likely="one backward at the end, or retain_graph: call `loss.backward()` for each piece",
    )


@pytest.mark.fine
def test_graphs_do_not_pile_up(answer, gen):
    """The graphs of the pieces are let go: neither the loss that is added up nor a list holds them."""
    model, marks, alive = network(gen), [], []

    def look(_layer, _inputs, out):
        alive.append(sum(mark() is not None for mark in marks))
        out, mark = marked(out)
        marks.append(mark)
        return out

    model[0].register_forward_hook(look)
    optimizer = OPTIMIZERS["AdamW"](model.parameters())
    answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (2, 2, 3, 1, 2)))
    expect_that(
        max(alive) <= 1,  # the last one may still have a name
        "the graphs of earlier pieces are alive when the model runs on another",
        yours=f"{max(alive)} graphs",
        likely="a sum of losses that carry their graphs: add up loss.detach()",
    )


@pytest.mark.fine
def test_gradients_stay(answer, gen):
    """Afterwards `.grad` holds the gradient of the whole batch, without what lay there before."""
    model, pieces = network(gen), pieces_of(gen, (4, 1, 3))
    temperature = nn.Parameter(torch.tensor(1.5))
    params = {"temperature, which loss_fn holds,": temperature, **dict(model.named_parameters())}
    loss_fn = lambda out, y: F.mse_loss(out / temperature, y)  # noqa: E731
    [(inputs, targets)] = joined(pieces)
    wanted = torch.autograd.grad(loss_fn(model(inputs), targets), list(params.values()))
    for p in params.values():
        p.grad = torch.full_like(p, 10.0)
    answer.accumulated_step(model, loss_fn, torch.optim.SGD(params.values(), lr=0.1), pieces)
    for (name, p), right in zip(params.items(), wanted, strict=True):
        expect_that(p.grad is not None, f"`.grad` of {name} is None after {CALL}: it was cleared")
        old = {"the old numbers count: clear first": lambda right=right: right + 10.0}
        expect_gradient(p.grad, right, f"{name} (in `.grad` afterwards)", scale=10.0, suspects=old)


@pytest.mark.fine
def test_parameters_without_gradient(answer, gen):
    """A parameter that no piece uses gets no gradient, and no momentum moves it."""
    model, unused = network(gen), nn.Parameter(torch.ones(2))
    optimizer = OPTIMIZERS["SGD with momentum"]([*model.parameters(), unused])
    unused.grad = torch.ones(2)
    optimizer.step()  # builds up momentum
    before = unused.detach().clone()
    answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (3, 2)))
    expect_that(unused.grad is None, "a parameter that is not used has a gradient", yours=unused.grad)
    expect_equal(unused.detach(), before, f"a parameter that is not used, after {CALL}")


@pytest.mark.fine
@pytest.mark.parametrize("sizes", [(0, 3, 2), (2, 0, 0, 5)], ids=str)
def test_empty_pieces(answer, gen, sizes):
    """A piece without examples, wherever it stands, is passed over: neither model nor loss sees it."""
    model, pieces, ran = network(gen), pieces_of(gen, sizes), []
    twin = copy.deepcopy(model)
    model[0].register_forward_hook(lambda _layer, given, _out: ran.append(len(given[0])))
    wanted = written_out(twin, F.mse_loss, "AdamW", [joined(pieces)])
    yours = answer.accumulated_step(model, F.mse_loss, OPTIMIZERS["AdamW"](model.parameters()), pieces)
    expect_number(yours, wanted, f"loss from a step with pieces of {sizes}", rtol=1e-5)
    expect_equal(ran, [n for n in sizes if n], f"the pieces of {sizes} that the model runs on")
    for name, right in state_of(twin).items():
        what = f"{name} after a step with pieces of {sizes}"
        expect_close(state_of(model)[name], right, what, ulps=2e3, scale=1.0)


@pytest.mark.fine
@pytest.mark.parametrize("sizes", [(), (0, 0)], ids=str)
def test_no_example(answer, gen, sizes):
    """Without any example ValueError is raised, before weights or gradients change."""
    model, call = network(gen), f"{CALL} with pieces of {sizes}"
    optimizer = OPTIMIZERS["SGD with momentum"](model.parameters())
    answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (5, 2)))
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    before, pieces = state_of(model), pieces_of(gen, sizes)
    expect_raises(ValueError, lambda: answer.accumulated_step(model, F.mse_loss, optimizer, pieces), call)
    for name, p in model.named_parameters():
        expect_equal(p.detach(), before[name], f"{name} after {call}")
        expect_that(p.grad is not None, f"the gradient of {name} is cleared, though {call} raises")


@pytest.mark.fine
def test_rows_of_targets(answer, gen):
    """The rows of targets count, whatever the shapes of inputs and targets are."""
    weight = nn.Parameter(torch.randn(3, 4, generator=gen))

    class TimeFirst(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = weight

        def forward(self, x):
            return x.mean(0) @ self.weight  # (batch, 4)

    sizes = [(5, 1, 4), (1, 4, 2), (3, 2, 1)]  # time, batch, labels
    draw = lambda *size: torch.randn(size, generator=gen)  # noqa: E731
    pieces = [(draw(time, n, 3), draw(n, labels)) for time, n, labels in sizes]
    loss_fn = lambda out, y: (out[:, : y.shape[1]] - y).square().mean()  # noqa: E731
    wanted = sum(loss_fn(TimeFirst()(x), y).item() * len(y) for x, y in pieces) / 7
    yours = answer.accumulated_step(TimeFirst(), loss_fn, torch.optim.SGD([weight], lr=0.1), pieces)
    expect_number(yours, wanted, f"{CALL} with inputs (time, batch, features)", rtol=1e-5)


@pytest.mark.fine
def test_float64(answer, gen):
    """A loss in float64 keeps its digits."""
    model, pieces = network(gen, torch.float64), pieces_of(gen, (4, 1, 2), torch.float64)
    wanted = F.mse_loss(model(joined(pieces)[0][0]), joined(pieces)[0][1]).item()
    yours = answer.accumulated_step(model, F.mse_loss, OPTIMIZERS["AdamW"](model.parameters()), pieces)
    expect_number(yours, wanted, f"{CALL} in float64", rtol=1e-13)


@pytest.mark.fine
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_modes_and_hooks(answer, gen, training):
    """Each layer runs in the mode it is in, and keeps it; hooks run; the caller's list stays as it is."""
    norm, seen = nn.BatchNorm1d(3), []
    model = nn.Sequential(norm, nn.Linear(3, 2)).train(training)
    norm.train(not training)
    pieces = pieces_of(gen, (4, 3))
    model.register_forward_hook(lambda *_: seen.append(1))
    with modes_kept(CALL, model):
        answer.accumulated_step(model, F.mse_loss, OPTIMIZERS["AdamW"](model.parameters()), pieces)
    what = "the pieces that went into the statistics of a batch norm"
    expect_equal(int(norm.num_batches_tracked), 2 * norm.training, what)
    expect_that(bool(seen), "a hook on the model does not run: call model(…), not model.forward(…)")
    expect_equal(len(pieces), 2, f"the number of pieces in the caller's list after {CALL}")


@pytest.mark.fine
def test_large_losses(answer, gen):
    """Large gradients are not clipped."""
    steps = [pieces_of(gen, (4, 2))]
    expect_steps(answer, network(gen), lambda p, t: 1e3 * F.mse_loss(p, t), "SGD with momentum", steps)


@pytest.mark.fine
@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_not_finite(answer, gen, bad):
    """A loss of inf or NaN is returned, and its step is taken."""
    model, steps, pieces = network(gen), [], pieces_of(gen, (4, 2))
    optimizer = OPTIMIZERS["SGD with momentum"](model.parameters())
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    loss_fn = lambda out, y: F.mse_loss(out, y) * (bad if len(y) == 2 else 1.0)  # noqa: E731
    loss = answer.accumulated_step(model, loss_fn, optimizer, pieces)
    expect_equal(loss, bad, f"{CALL} where the loss of the second piece is {bad}")
    expect_equal(len(steps), 1, f"the number of steps where a loss is {bad}")


def oracle(answer, gen):
    def of(kind, model, loss_fn, steps):
        optimizer = OPTIMIZERS[kind](model.parameters())

        def losses_and_weights():
            losses = [answer.accumulated_step(model, loss_fn, optimizer, pieces) for pieces in steps]
            return [losses, state_of(model)]

        return losses_and_weights

    numbers = [pieces_of(gen, sizes) for sizes in SIZES]
    words = [texts(gen, sizes) for sizes in [(5, 2), (1, 3, 4)]]
    return {
        **{kind: of(kind, network(gen), F.mse_loss, numbers) for kind in OPTIMIZERS},
        "tokens and class numbers": of("SGD with momentum", reader(gen), F.cross_entropy, words),
    }
