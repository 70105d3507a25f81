"""What grades accumulated_step: whole-batch steps, what runs, one graph at a time; gradients, corners."""

import math
import weakref
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_raises, expect_that, marked
from grader.checks.contract import Contract, given, hooks, modes, values
from grader.checks.registered import randomize, state_of

CALL = "accumulated_step(model, loss_fn, optimizer, pieces)"

OPTIMIZERS = {
    "SGD with momentum": partial(torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": partial(torch.optim.AdamW, lr=0.05, weight_decay=0.1),
}
SIZES = [(4, 4, 3), (1, 5), (6,), (2, 1, 1, 4)]


def network(gen, *before):
    """3 features, 4 hidden units, 2 outputs."""
    model = nn.Sequential(*before, nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    randomize(model, gen)
    return model


def pieces_of(gen, sizes):
    return [tuple(torch.randn(n, width, generator=gen).double() for width in (3, 2)) for n in sizes]


def numbers(gen, *steps, kind="SGD with momentum", loss_fn=F.mse_loss, model=None, more=()):
    """Steps with pieces of these sizes; the optimizer holds the parameters of the model and `more`."""
    model = model or network(gen)
    optimizer = OPTIMIZERS[kind]([*model.parameters(), *more])
    return given(model, loss_fn, optimizer, [pieces_of(gen, sizes) for sizes in steps])


def texts(gen, *steps):
    """Steps on 3 tokens of 6, with 2 classes."""
    model = nn.Sequential(nn.Embedding(6, 4), nn.Flatten(), nn.Linear(12, 2)).double()
    randomize(model, gen)
    draw = lambda high, *size: torch.randint(high, size, generator=gen)  # noqa: E731
    pieces = [[(draw(6, n, 3), draw(2, n)) for n in sizes] for sizes in steps]
    return given(model, F.cross_entropy, OPTIMIZERS["SGD with momentum"](model.parameters()), pieces)


class Tempered(nn.Module):
    """A loss with a parameter of its own."""

    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(1.5).double())

    def forward(self, predictions, targets):
        return F.mse_loss(predictions / self.temperature, targets)


def tempered(gen):
    """A step whose optimizer holds a parameter of the loss, too, with old numbers in `.grad`."""
    loss_fn, model = Tempered(), network(gen)
    for p in [*model.parameters(), loss_fn.temperature]:
        p.grad = torch.full_like(p, 10.0)
    return numbers(gen, (4, 1, 3), model=model, loss_fn=loss_fn, more=loss_fn.parameters())


def unused(gen):
    """A step of an optimizer that moved a layer by momentum which the model does not use any more."""
    model = network(gen)
    model.register_parameter("unused", nn.Parameter(torch.ones(2).double()))
    call = numbers(gen, (3, 2), model=model)
    model.unused.grad = torch.ones(2).double()
    call.args[2].step()
    return call


class TimeFirst(nn.Module):
    """Takes (time, batch, features)."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x):
        return x.mean(0) @ self.weight  # (batch, 4)


def time_first(gen):
    """Pieces of time, examples and labels of many sizes."""
    draw = lambda *size: torch.randn(size, generator=gen).double()  # noqa: E731
    model, sizes = TimeFirst(draw(3, 4)), [(5, 1, 4), (1, 4, 2), (3, 2, 1)]
    pieces = [(draw(time, n, 3), draw(n, labels)) for time, n, labels in sizes]
    loss_fn = lambda out, y: (out[:, : y.shape[1]] - y).square().mean()  # noqa: E731
    return given(model, loss_fn, torch.optim.SGD(model.parameters(), lr=0.1), [pieces])


def spoilt(gen, bad):
    """A step in which the loss of the second piece is `bad`."""
    loss_fn = lambda out, y: F.mse_loss(out, y) * (bad if len(y) == 2 else 1.0)  # noqa: E731
    return numbers(gen, (4, 2), loss_fn=loss_fn)


def of_all(sizes):
    """The share of each piece in the whole batch."""
    return [n / sum(sizes) for n in sizes]


def alike(sizes):
    return [1 / len(sizes) for _ in sizes]


def added(sizes):
    return [1.0 for _ in sizes]


def large(sizes):
    """Nothing of a piece that is smaller than the first."""
    return [share * (n >= sizes[0]) for n, share in zip(sizes, of_all(sizes), strict=True)]


def written_out(
    model, loss_fn, optimizer, steps, shares=of_all, tell=of_all, clear="step", moves=lambda left: left == 0
):
    """The losses of a loop without any helper; or with other shares of the pieces, or a mistake."""
    results = []
    for pieces in steps:
        losses, some = [], [(x, y) for x, y in pieces if len(y)]
        sizes = [len(y) for _, y in some]
        for number, ((x, y), share) in enumerate(zip(some, shares(sizes), strict=True), start=1):
            if clear == "piece" or (clear == "step" and number == 1):
                optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            (loss * share).backward()
            losses.append(loss.item())
            if moves(len(some) - number):
                optimizer.step()
        results.append(sum(loss * share for loss, share in zip(losses, tell(sizes), strict=True)))
    return results


def wrong(**how):
    return partial(written_out, **how)


contract = Contract(
    CALL,
    reference=written_out,
    use=lambda answer, model, loss_fn, optimizer, steps: [
        answer.accumulated_step(model, loss_fn, optimizer, pieces) for pieces in steps
    ],
    inputs=lambda gen: {
        "a step in pieces of one size": numbers(gen, (3, 3)),
        **{f"four steps, with {kind}": numbers(gen, *SIZES, kind=kind) for kind in OPTIMIZERS},
        "two steps on tokens, with class numbers": texts(gen, (5, 2), (1, 3, 4)),
    },
    after="model",
    ulps=1e3,
    scale=1.0,
    suspects={
        "this is the mean of the pieces' losses: weigh each by its number of examples": wrong(tell=alike),
        "the pieces' losses are added up as they are, without a weight": wrong(tell=added),
        "this is the loss of the last piece": wrong(tell=lambda sizes: [0.0] * (len(sizes) - 1) + [1.0]),
        "this is the share of the last piece": wrong(
            tell=lambda sizes: [0.0] * (len(sizes) - 1) + of_all(sizes)[-1:]
        ),
        "this is the sum over all examples": wrong(tell=lambda sizes: sizes),
        "every piece counts alike: weigh each by its number of examples": wrong(shares=alike),
        "the pieces' gradients are added up as they are, without a weight": wrong(shares=added),
        "the last piece alone counts: its backward finds the gradients cleared": wrong(clear="piece"),
        "earlier gradients count as well: nothing clears them": wrong(clear=""),
        "the optimizer takes a step after each piece": wrong(moves=lambda left: True),
        "a piece that is smaller than the first is left out": wrong(shares=large, tell=large),
    },
    job=[values(title="Step after step, losses and weights are those of the whole batch.")],
    fine=[
        values(
            inputs=lambda gen: {"a loss with a temperature": tempered(gen)},
            after="model.grad loss_fn.grad",
            name="gradients_stay",
            title="Afterwards `.grad` holds the gradient of the whole batch, without what lay there before.",
        ),
        values(
            inputs=lambda gen: {"a model with an unused parameter": unused(gen)},
            after="model model.grad",
            name="parameters_without_gradient",
            title="A parameter that no piece uses gets no gradient, and no momentum moves it.",
        ),
        values(
            inputs=lambda gen: {
                f"pieces of {sizes}": numbers(gen, sizes, model=network(gen, nn.BatchNorm1d(3)))
                for sizes in [(0, 3, 2), (2, 0, 0, 5)]
            },
            name="empty_pieces",
            title="A piece without examples, wherever it stands, is passed over: no model sees it.",
        ),
        values(
            inputs=lambda gen: {"inputs of (time, batch, features)": time_first(gen)},
            name="rows_of_targets",
            title="The rows of targets count, whatever the shapes of inputs and targets are.",
        ),
        values(
            inputs=lambda gen: {"a model in float64": numbers(gen, (4, 1, 2))},
            after="",
            ulps=1e-6,
            name="float64",
            title="A loss in float64 keeps its digits.",
        ),
        modes(
            inputs=lambda gen: {
                "pieces of 4 and 3": numbers(gen, (4, 3), model=network(gen, nn.BatchNorm1d(3)))
            },
            title="Each layer runs in the mode it is in, and keeps it.",
        ),
        hooks(),
        values(
            inputs=lambda gen: {
                "a large loss": numbers(gen, (4, 2), loss_fn=lambda out, y: 1e3 * F.mse_loss(out, y))
            },
            name="large_losses",
            title="Large gradients are not clipped.",
        ),
        values(
            inputs=lambda gen: {f"a loss of {bad}": spoilt(gen, bad) for bad in (math.inf, math.nan)},
            suspects={"the step is left out": wrong(moves=lambda left: False)},
            name="not_finite",
            title="A loss of inf or NaN is returned, and its step is taken.",
        ),
    ],
)


def test_what_runs(answer, gen):
    """Model and loss run once on each piece, in order; the optimizer steps once, at the end."""
    model, events, seen = network(gen), [], []
    model[0].register_forward_hook(lambda _layer, given, _out: events.append(len(given[0])))
    optimizer, pieces = torch.optim.SGD(model.parameters(), lr=0.1), pieces_of(gen, (2, 4, 1))
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
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
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
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    answer.accumulated_step(model, F.mse_loss, optimizer, pieces_of(gen, (2, 2, 3, 1, 2)))
    expect_that(
        max(alive) <= 1,  # the last one may still have a name
        "the graphs of earlier pieces are alive when the model runs on another",
        yours=f"{max(alive)} graphs",
        likely="a sum of losses that carry their graphs: add up loss.detach()",
    )


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
def test_pieces_are_left_alone(answer, gen):
    """The caller's list stays as it is."""
    model, loss_fn, optimizer, [pieces] = numbers(gen, (4, 3)).args
    answer.accumulated_step(model, loss_fn, optimizer, pieces)
    expect_equal(len(pieces), 2, f"the number of pieces in the caller's list after {CALL}")
