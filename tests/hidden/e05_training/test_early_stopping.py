"""What grades early_stopping: when it stops, and the best; NaN, tensors, state dicts, errors."""

import gc
import json
import math
import weakref
from functools import partial

import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.contract import Contract, given, values

CALL = "EarlyStopping(patience, min_delta, mode)"


def run(values, patience, min_delta=0.0, mode="min", **mistake):
    """For each value whether to stop, `best` and the epoch of it; or with a mistake."""
    sign = -1.0 if mode == "max" and not mistake.get("one_way") else 1.0
    best, at, waited, rows = sign * math.inf, -1, 0, []
    last = best
    for epoch, value in enumerate(values.tolist()):
        delta = mistake.get("delta", min_delta)
        against = last if mistake.get("last") else best
        bar = against * (1 - sign * delta) if mistake.get("relative") and at >= 0 else against - sign * delta
        gain = sign * value < sign * bar or (mistake.get("equal") and value == bar)
        gain = (
            gain
            or (mistake.get("nan") and not sign * value >= sign * bar)
            or (mistake.get("start") and epoch == 0)
        )
        last = value
        if gain:
            waited = 0
            best, at = value, epoch
        else:
            waited += 1
            if mistake.get("creeps") and sign * value < sign * best:
                best, at = value, epoch
        if mistake.get("total") and gain:
            waited = rows[-1][3] if rows else 0
        rows.append((float(waited >= patience + mistake.get("late", 0)), best, float(at), waited))
    return torch.tensor([row[:3] for row in rows], dtype=torch.float64)


def wrong(**how):
    return partial(run, **how)


def told(answer, values, *options, **more):
    """What the answer makes of the values, as `run` has it."""
    stopping, rows = answer.EarlyStopping(*options, **more), []
    for value in values.tolist():
        stop = stopping.step(value)
        at = -1 if stopping.best_epoch is None else stopping.best_epoch
        rows.append((float(stop), stopping.best, float(at)))
    return torch.tensor(rows, dtype=torch.float64)


def losses(gen, count, sign=1.0):
    """They fall at first, then creep below the best by little, and rise."""
    noise = torch.rand(count, generator=gen, dtype=torch.float64)
    falling = torch.linspace(3.0, 1.0, count, dtype=torch.float64) + 0.4 * noise
    creeping = falling[-1] - 0.02 * torch.arange(1, count, dtype=torch.float64)
    fresh = torch.tensor([0.3, 0.9, 0.8, 0.7], dtype=torch.float64) - 0.1 * noise[0]
    rising = 1.0 + noise
    return sign * torch.cat([falling, creeping, fresh, rising])


contract = Contract(
    "EarlyStopping(patience, min_delta, mode)",
    reference=run,
    use=told,
    inputs=lambda gen: {
        "losses, min_delta=0": given(losses(gen, 5), 3),
        "losses, min_delta=0.25": given(losses(gen, 8), 3, 0.25),
        "losses, min_delta=0.125": given(losses(gen, 6), 2, min_delta=0.125),
        "accuracies, min_delta=0.25": given(losses(gen, 7, -1.0), 3, 0.25, "max"),
        "accuracies, min_delta=0": given(losses(gen, 6, -1.0), 2, mode="max"),
    },
    dims="epoch (stop,best,best_epoch)",
    scale=1e-6,
    suspects={
        "it stops one value late: after `patience` values without a gain": wrong(late=1),
        "it stops one value early": wrong(late=-1),
        "min_delta is ignored": wrong(delta=0.0),
        "min_delta is taken for a part of best: it is a difference": wrong(relative=True),
        "best changes without a gain: small steps are to add up": wrong(creeps=True),
        "a value is compared with the one before, not with the best": wrong(last=True),
        "mode is ignored": wrong(one_way=True),
        "a gain does not begin the count anew": wrong(total=True),
    },
    job=[values(title="It stops after `patience` values without a gain, and keeps the best.")],
    fine=[
        values(
            inputs=lambda gen: {
                "NaN among losses": given(
                    torch.tensor([2.0, math.nan, 1.0, math.nan, math.nan, 0.5]).double(), 2
                ),
                "NaN first": given(torch.tensor([math.nan, math.nan, 3.0, 2.0]).double(), 2),
                "NaN among accuracies": given(
                    torch.tensor([math.nan, 0.5, math.nan]).double(), 1, mode="max"
                ),
            },
            suspects={
                "NaN counts as a gain": wrong(nan=True),
                "the first value is the best, also NaN: nothing is below that": wrong(start=True),
            },
            name="nan",
            title="NaN is no gain, neither first nor later.",
        ),
        values(
            inputs=lambda gen: {
                "steps of just min_delta": given(torch.tensor([2.0, 1.5, 1.5, 0.75]).double(), 1, 0.5)
            },
            suspects={"a step of just min_delta counts as a gain": wrong(equal=True)},
            name="more_than_min_delta",
            title="A gain is more than min_delta.",
        ),
    ],
)


@pytest.mark.fine
def test_at_first(answer):
    """Before the first gain, best is infinite and best_epoch None."""
    for mode, best in (("min", math.inf), ("max", -math.inf)):
        stopping = answer.EarlyStopping(2, mode=mode)
        found = [stopping.best, stopping.best_epoch]
        expect_equal(found, [best, None], f'best and best_epoch of a new EarlyStopping(2, mode="{mode}")')


@pytest.mark.fine
def test_improved(answer):
    """`improved` says whether the last value was a gain."""
    stopping, found = answer.EarlyStopping(2, 0.25), []
    for loss in [2.0, 1.5, 1.4, math.nan, 1.0]:
        stopping.step(loss)
        found.append(bool(stopping.improved))
    expect_equal(found, [True, True, False, False, True], "improved after each of [2, 1.5, 1.4, nan, 1]")


@pytest.mark.fine
def test_tensor(answer):
    """A tensor of one element will do, and it is not kept."""
    stopping = answer.EarlyStopping(2)
    w = torch.tensor([2.0], requires_grad=True)
    loss = (w * 1.5).sum()
    kept = weakref.ref(loss)
    expect_equal(stopping.step(loss), False, "step(loss), where loss is a tensor")
    expect_equal(type(stopping.best).__name__, "float", "the type of best after a tensor")
    expect_equal(stopping.best, 3.0, "best after a loss of 3")
    del loss
    gc.collect()
    expect_that(kept() is None, "the loss is kept, and with it its graph")


@pytest.mark.fine
@pytest.mark.parametrize("cut", [1, 3, 6])
def test_goes_on(answer, cut):
    """A new object that loads the state, by way of json, goes on from there with its own arguments."""
    series = [2.0, 1.0, 1.5, 1.25, 0.5, 0.75, 0.6, 0.7]
    make = lambda: answer.EarlyStopping(3, 0.25)  # noqa: E731
    whole = make()
    wanted = [whole.step(loss) for loss in series]
    first, again = make(), make()
    for loss in series[:cut]:
        first.step(loss)
    again.load_state_dict(json.loads(json.dumps(first.state_dict())))
    expect_equal(again.best, first.best, f"best after {cut} values, loaded")
    found = [again.step(loss) for loss in series[cut:]]
    expect_equal(found, wanted[cut:], f"step(loss) for {series[cut:]}, after {cut} values and loading")
    expect_equal(again.best_epoch, whole.best_epoch, "best_epoch in the end: all epochs count")
    longer = answer.EarlyStopping(9)
    longer.load_state_dict(first.state_dict())
    found = [longer.step(3.0) for _ in range(5)]
    expect_equal(found, [False] * 5, "step(loss) of EarlyStopping(9) that loaded a state of EarlyStopping(3)")


@pytest.mark.fine
@pytest.mark.parametrize("options", [(0,), (-1,), (2, -0.5), (2, 0.0, "lowest")], ids=str)
def test_errors(answer, options):
    """Arguments out of their range raise ValueError."""
    expect_raises(ValueError, lambda: answer.EarlyStopping(*options), f"EarlyStopping{options}")
