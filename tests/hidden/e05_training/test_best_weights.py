"""What grades fit: weights, buffers and what is returned; NaN, errors, the same memory, one copy."""

import gc
import math
from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, given, values
from grader.checks.registered import state_of

CALL = "fit(model, train_epoch, evaluate, epochs)"


def network():
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))


def drawn(gen, epochs):
    """What is in the network at first and after each epoch."""
    found = []
    for epoch in range(epochs + 1):
        state = {}
        for name, t in network().state_dict().items():
            fresh = torch.randn(t.shape, generator=gen)
            state[name] = fresh if t.is_floating_point() else torch.tensor(5 * epoch + 1)
        found.append(state)
    return found


def flat(state, buffers):
    """All parameters in one tensor, or all buffers."""
    names = set(dict(network().named_buffers()))
    return torch.cat([t.reshape(-1).float() for name, t in state.items() if (name in names) == buffers])


def lowest(losses):
    """The number of the first of the lowest, or None."""
    real = [(loss, epoch) for epoch, loss in enumerate(losses) if not math.isnan(loss)]
    return min(real)[1] if real else None


def kept(states, losses, best=lowest, which=None, buffers=True):
    """Parameters, buffers, the loss and its epoch in the end; or with a mistake."""
    epoch = best(losses)
    loss = math.inf if epoch is None else losses[epoch]
    there = len(losses) - 1 if epoch is None else epoch
    other = there if buffers else len(losses) - 1
    if which is not None:
        there = which(losses, there)
    found = [flat(states[there + 1], False), flat(states[other + 1], True)]
    return [*found, torch.tensor([loss, -1.0 if epoch is None else epoch])]


def wrong(**how):
    return partial(kept, **how)


def start(states, losses):
    """A model, and functions that train it and measure it as these say."""
    model, following, measured = network(), iter(states[1:]), iter(losses)
    model.load_state_dict(states[0])
    return model, lambda: model.load_state_dict(next(following)), lambda: next(measured)


def run(answer, states, losses):
    model, train_epoch, evaluate = start(states, losses)
    loss, epoch = answer.fit(model, train_epoch, evaluate, len(losses))
    state = state_of(model)
    numbers = torch.tensor([float(loss), -1.0 if epoch is None else epoch])
    return [flat(state, False), flat(state, True), numbers]


contract = Contract(
    "fit(model, train_epoch, evaluate, epochs)",
    reference=kept,
    use=run,
    inputs=lambda gen: {
        "losses of 2, 1, 3, 1.5": given(drawn(gen, 4), [2.0, 1.0, 3.0, 1.5]),
        "losses of 3, 2, 1, 1, 2": given(drawn(gen, 5), [3.0, 2.0, 1.0, 1.0, 2.0]),
        "the first is the best": given(drawn(gen, 3), [0.5, 2.0, 1.0]),
        "the last is the best": given(drawn(gen, 3), [3.0, 2.0, 1.0]),
    },
    widens=False,
    suspects={
        "the weights of the last epoch: `state_dict()` holds no copies": wrong(
            which=lambda losses, best: len(losses) - 1
        ),
        "the weights of the epoch before the best: the copy comes before the training": wrong(
            which=lambda losses, best: best - 1
        ),
        "the highest loss counts": wrong(best=lambda losses: losses.index(max(losses))),
        "the last of two equal losses counts: the first is wanted": wrong(
            best=lambda losses: len(losses) - 1 - losses[::-1].index(min(losses))
        ),
        "buffers are those of the last epoch: copy them as well": wrong(buffers=False),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "NaN first": given(drawn(gen, 4), [math.nan, 2.0, 1.0, 3.0]),
                "NaN between": given(drawn(gen, 4), [2.0, math.nan, 1.0, math.nan]),
                "nothing but NaN": given(drawn(gen, 2), [math.nan, math.nan]),
                "no epochs": given(drawn(gen, 0), []),
            },
            name="nan",
            title="NaN is never the best; without a best, the model stays as it is.",
        )
    ],
)


@pytest.mark.fine
def test_same_memory(answer, gen):
    """Parameters and buffers are the same objects as before, in the same memory."""
    model, train_epoch, evaluate = start(drawn(gen, 3), [2.0, 1.0, 3.0])
    named = lambda: [*model.named_parameters(), *model.named_buffers()]  # noqa: E731
    before = {name: (t, t.data_ptr()) for name, t in named()}
    answer.fit(model, train_epoch, evaluate, 3)
    moved = [name for name, t in named() if t is not before[name][0] or t.data_ptr() != before[name][1]]
    told = "the model has other tensors than before, which its optimizer does not hold"
    expect_that(not moved, told, yours=", ".join(moved))


@pytest.mark.fine
@pytest.mark.parametrize("error", [FloatingPointError, KeyboardInterrupt], ids=lambda error: error.__name__)
@pytest.mark.parametrize("where", ["train_epoch", "evaluate"])
def test_error(answer, gen, error, where):
    """An error comes through, and the model has the best weights so far."""
    states = drawn(gen, 4)
    model, train_epoch, evaluate = start(states, [2.0, 1.0, 3.0, 0.5])
    calls = []

    def stopping(fn, name):
        def call():
            found = fn()
            calls.append(name)
            if name == where and calls.count(name) == 4:
                raise error("stop")
            return found

        return call

    train, measure = stopping(train_epoch, "train_epoch"), stopping(evaluate, "evaluate")
    call = f"{CALL} where {where} raises {error.__name__} in the last epoch"
    came = False
    try:
        answer.fit(model, train, measure, 4)
    except error:
        came = True
    expect_that(came, f"{call} does not raise it")
    for name, t in state_of(model).items():
        expect_equal(t, states[2][name], f"{name} after {call}")


@pytest.mark.fine
def test_one_copy(answer):
    """At most one copy of the weights is held while an epoch trains."""
    model, losses, most = nn.Linear(37, 23, bias=False), iter([5.0, 4.0, 3.0, 2.0, 1.0]), []

    def train_epoch():
        gc.collect()
        there = [t for t in gc.get_objects() if isinstance(t, torch.Tensor) and t.shape == (23, 37)]
        most.append(len({t.data_ptr() for t in there}) - 1)
        model.weight.data += 1.0

    answer.fit(model, train_epoch, lambda: next(losses), 5)
    told = "more than one copy of the weights is held"
    expect_that(max(most) <= 1, told, yours=f"{max(most)} in epoch {most.index(max(most))}")


@pytest.mark.fine
def test_tensor(answer, gen):
    """A loss may be a tensor, and comes back as a float."""
    losses = [torch.tensor(loss, requires_grad=True) * 2 for loss in (2.0, 1.0, 3.0)]
    model, train_epoch, evaluate = start(drawn(gen, 3), losses)
    loss, epoch = answer.fit(model, train_epoch, evaluate, 3)
    expect_equal(type(loss).__name__, "float", "the type of the loss, where evaluate returns a tensor")
    expect_equal((loss, epoch), (2.0, 1), f"{CALL}, where evaluate returns tensors")
