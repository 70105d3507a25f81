"""What grades learning_rate_range: rates and losses, where it ends, what is put back; buffers, errors."""

import copy
import math

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, modes_kept

CALL = "range_test(model, optimizer, batches, loss_fn, low, high)"


def loss_fn(yours, right):
    return (yours - right).square().mean()


def start(gen, count=6, norm=False):
    """A model, an optimizer with momentum and two groups that has stepped already, and batches."""
    layers = [nn.Linear(3, 4), nn.BatchNorm1d(4) if norm else nn.Tanh(), nn.Linear(4, 1)]
    model = nn.Sequential(*layers).double()
    for p in model.parameters():
        p.data = torch.randn(p.shape, generator=gen).double() / 2
    groups = [{"params": layers[0].parameters(), "lr": 0.03}, {"params": layers[2].parameters()}]
    optimizer = torch.optim.SGD(groups, lr=0.07, momentum=0.9)
    batches = [
        (torch.randn(5, 3, generator=gen).double(), torch.randn(5, 1, generator=gen).double())
        for _ in range(count)
    ]
    loss_fn(model(batches[0][0]), batches[0][1]).backward()
    optimizer.step()
    optimizer.zero_grad()
    return model, optimizer, batches


def pairs_of(model, optimizer, batches, low, high, linear=False, groups=None, factor=None, after=False):
    """The pairs, on copies; what comes after `high` is as people get it wrong."""
    model, optimizer = copy.deepcopy((model, optimizer))
    pairs, best, n = [], math.inf, len(batches)
    for i, (x, y) in enumerate(batches):
        rate = low + (high - low) * i / (n - 1) if linear else low * (high / low) ** (i / (factor or n - 1))
        for group in optimizer.param_groups[:groups]:
            group["lr"] = rate
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        if not loss.isfinite() or loss > 4 * best:
            return [*pairs, (rate, loss.item())]
        loss.backward()
        optimizer.step()
        value = loss_fn(model(x), y).item() if after else loss.item()
        pairs.append((rate, value))
        best = min(best, loss.item())
    return pairs


MISTAKES = {
    "the rates grow by the same amount: by the same factor is asked for": {"linear": True},
    "only the first group gets the rate": {"groups": 1},
    "the last rate is not high: n batches are n - 1 intervals": {"factor": 6},
    "the loss is that after the step": {"after": True},
}


def table(pairs):
    return torch.tensor([[float(rate), float(loss)] for rate, loss in pairs], dtype=torch.float64)


def test_values(answer, gen):
    """Rates grow by the same factor, and the losses are those before each step."""
    model, optimizer, batches = start(gen)
    suspects = {
        told: lambda how=how: table(pairs_of(*kept, batches, 0.001, 0.05, **how))
        for told, how in MISTAKES.items()
    }
    kept = copy.deepcopy((model, optimizer))
    wanted = table(pairs_of(*kept, batches, 0.001, 0.05))
    yours = table(answer.range_test(model, optimizer, batches, loss_fn, 0.001, 0.05))
    expect_close(yours, wanted, CALL, dims="step 2", suspects=suspects, ulps=1000)


@pytest.mark.parametrize("bad", [5.0, math.nan, math.inf])
def test_end(answer, gen, bad):
    """It ends with the first loss that is not finite or above 4 times the smallest."""
    model, optimizer, batches = start(gen, 7)
    sizes = [2.0, 7.0, 1.0, 3.9, bad, 1.0, 1.0]
    asked = []

    def given(yours, right):
        asked.append(sizes[len(asked)])
        return 0.0 * yours.sum() + asked[-1]

    pairs = answer.range_test(model, optimizer, batches, given, 0.001, 0.01)
    losses = [str(float(loss)) for _, loss in pairs]
    suspects = {
        "the last loss is left out": lambda: [str(size) for size in sizes[:4]],
        "it does not end: is it compared with the smallest loss so far?": lambda: [
            str(size) for size in sizes
        ],
    }
    expect_equal(losses, [str(size) for size in sizes[:5]], f"the losses of {CALL}", suspects=suspects)


def kept_of(model, optimizer):
    """What is to be as before: weights, rates, state."""
    state = optimizer.state_dict()
    momenta = [one["momentum_buffer"].clone() for _, one in sorted(state["state"].items())]
    rates = [group["lr"] for group in state["param_groups"]]
    return [p.detach().clone() for p in model.parameters()], rates, momenta


def expect_kept(before, model, optimizer, call):
    after = kept_of(model, optimizer)
    for told, one, two in zip(("the weights", "lr of each group", "momentum"), after, before, strict=True):
        expect_equal(one, two, f"{told}, after {call}")
    left = [name for name, p in model.named_parameters() if p.grad is not None and p.grad.any()]
    expect_that(not left, f"{call} leaves gradients", parameters=left)


def test_restored(answer, gen):
    """Weights, rates and momentum are as before, and training goes on as if nothing had been."""
    for high in (0.05, 1e9):
        model, optimizer, batches = start(gen)
        before = kept_of(model, optimizer)
        answer.range_test(model, optimizer, batches, loss_fn, 0.001, high)
        expect_kept(before, model, optimizer, f"{CALL} with {high=}")


@pytest.mark.fine
def test_buffers(answer, gen):
    """Buffers are as before, and the weights the same tensors."""
    model, optimizer, batches = start(gen, norm=True)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    own = list(model.parameters())
    answer.range_test(model, optimizer, batches, loss_fn, 0.001, 0.05)
    expect_equal(dict(model.state_dict()), before, f"model.state_dict(), after {CALL}")
    same = all(p is q for p, q in zip(own, model.parameters(), strict=True))
    expect_that(same, f"{CALL} puts other tensors in the place of parameters")


class Broken(Exception):
    pass


@pytest.mark.fine
def test_an_error(answer, gen):
    """All is put back, too, where loss_fn raises an error, which reaches the caller."""
    model, optimizer, batches = start(gen)
    before, calls, raised = kept_of(model, optimizer), [], False

    def fails(yours, right):
        calls.append(1)
        if len(calls) > 1:  # a step has been taken
            raise Broken("two in the morning")
        return loss_fn(yours, right)

    try:
        answer.range_test(model, optimizer, batches, fails, 0.001, 0.05)
    except Broken:
        raised = True
    expect_that(raised, f"{CALL} swallows an error of loss_fn")
    expect_kept(before, model, optimizer, f"{CALL} where loss_fn raises")


@pytest.mark.fine
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_mode_and_floats(answer, gen, training):
    """The model runs in its mode and keeps it; rates and losses are plain floats."""
    model, optimizer, batches = start(gen, norm=True)
    modes = set()
    model.train(training)[1].register_forward_hook(lambda module, *_: modes.add(module.training))
    with modes_kept(CALL, model):
        pairs = answer.range_test(model, optimizer, batches, loss_fn, 1, 1)
    expect_equal(modes, {training}, f"the modes in which a batch norm runs in {CALL}")
    kinds = {type(number).__name__ for pair in pairs for number in pair}
    expect_equal(kinds, {"float"}, f"the types in the pairs of {CALL}")


def oracle(answer, gen):
    def found(count, high):
        given = start(gen, count)
        return lambda: table(answer.range_test(*given, loss_fn, 0.001, high))

    return {"three batches": found(3, 0.05), "six batches": found(6, 0.05), "nine batches": found(9, 0.02)}
