"""What grades loss_spike_guard: which losses are admitted, steps taken and skipped; states, bad numbers."""

import json
import math
from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that

INF, NAN = math.inf, math.nan


def middle(losses):
    low, high = (len(losses) - 1) // 2, len(losses) // 2
    return (sorted(losses)[low] + sorted(losses)[high]) / 2


def verdicts(
    losses,
    window,
    factor,
    typical=middle,
    early=False,
    all_kept=False,
    spikes_kept=False,
):
    """What a guard says to each loss; what comes after `factor` is as people get it wrong."""
    kept, told = [], []
    for loss in losses:
        last = kept if all_kept else kept[-window:]
        known = bool(last) if early else len(kept) >= window
        good = math.isfinite(loss) and not (known and loss > factor * typical(last))
        told.append(good)
        if good or (spikes_kept and math.isfinite(loss)):
            kept.append(loss)
    return told


MISTAKES = {
    "it is compared with the mean: the median is asked for": {"typical": lambda last: sum(last) / len(last)},
    "it is compared with the last loss alone": {"typical": lambda last: last[-1]},
    "it is compared with the smallest loss": {"typical": min},
    "the median is that of losses in the order of time: sort them": {
        "typical": lambda last: last[len(last) // 2]
    },
    "spikes are looked for before the window is full": {"early": True},
    "all losses are remembered: the last `window` are asked for": {"all_kept": True},
    "spikes are remembered": {"spikes_kept": True},
}


def drawn(gen, count=60, spikes=0.25):
    """Falling losses, some of them a few times as large, and NaN or inf here and there."""
    usual = 4 * torch.linspace(1, 0.25, count).double() * (0.6 + 0.8 * torch.rand(count, generator=gen))
    size = 1.2 + 3 * torch.rand(count, generator=gen)
    leap = torch.rand(count, generator=gen) < spikes
    losses = torch.where(leap, usual * size, usual).tolist()
    for n, bad in zip(torch.randperm(count, generator=gen)[:3].tolist(), (NAN, INF, NAN), strict=True):
        losses[n] = bad
    return losses


def expect_verdicts(answer, losses, window, factor):
    guard = answer.SpikeGuard(window, factor)
    suspects = {told: partial(verdicts, losses, window, factor, **how) for told, how in MISTAKES.items()}
    wanted = verdicts(losses, window, factor)
    yours = [bool(guard.admits(loss)) for loss in losses]
    expect_equal(yours, wanted, f"admits(loss) with {window=} and {factor=}", suspects=suspects)


@pytest.mark.of("SpikeGuard")
def test_SpikeGuard_values(answer, gen):
    """A loss is compared with the median of the last ones that were admitted."""
    for window, factor in ((5, 1.5), (9, 1.25), (1, 2.0)):
        expect_verdicts(answer, drawn(gen), window, factor)


@pytest.mark.of("SpikeGuard")
def test_SpikeGuard_not_finite(answer):
    """NaN and inf are spikes from the first loss on, and are not remembered."""
    for bad in (NAN, INF):
        guard = answer.SpikeGuard(2, 3.0)
        losses = [bad, 1.0, bad, 1.0, bad, 4.0, 2.0]
        wanted = [False, True, False, True, False, False, True]
        yours = [bool(guard.admits(loss)) for loss in losses]
        expect_equal(yours, wanted, f"admits(loss) for {losses}")


def start(gen):
    """A model, and an optimizer that has momentum from a step already."""
    model = nn.Linear(3, 2).double()
    for p in model.parameters():
        p.data = torch.randn(p.shape, generator=gen).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    return model, optimizer


def loss_of(model, x, size=1.0):
    return size * model(x).square().mean()


def trained(answer, gen, sizes, stale=False):
    """The verdicts, the weights after each step, and whether a gradient is left; and what is wanted."""
    model, optimizer = start(gen)
    plain, steps = nn.Linear(3, 2).double(), []
    plain.load_state_dict(model.state_dict())
    twin = torch.optim.SGD(plain.parameters(), lr=0.001, momentum=0.9)
    guard, found = answer.SpikeGuard(1, 2.0), []
    for n, size in enumerate(sizes):
        x = 1 + torch.rand(4, 3, generator=gen).double() / 50
        wanted = n == 0 or size == 1.0
        if wanted:
            twin.zero_grad()
            loss_of(plain, x).backward()
            twin.step()
        steps.append((wanted, plain.weight.detach().clone()))
        loss = loss_of(model, x, size)
        if stale:
            model.weight.grad = torch.ones_like(model.weight)
        took = answer.guarded_step(model, optimizer, guard, loss)
        left = [name for name, p in model.named_parameters() if p.grad is not None and p.grad.any()]
        found.append((bool(took), model.weight.detach().clone(), left))
    return found, steps


def expect_steps(found, steps):
    call = "guarded_step(model, optimizer, guard, loss)"
    for n, ((took, weight, _), (wanted, right)) in enumerate(zip(found, steps, strict=True), 1):
        expect_equal(took, wanted, f"{call} at step {n}")
        expect_close(weight, right, f"the weight after {n} steps of {call}", scale=4.0, ulps=100)


@pytest.mark.of("guarded_step")
def test_guarded_step_values(answer, gen):
    """Steps are taken for ordinary losses; spikes leave weights and momentum as they are."""
    expect_steps(*trained(answer, gen, [1.0, 1.0, 1000.0, NAN, 1.0, 1000.0, 1.0]))


@pytest.mark.of("guarded_step")
def test_guarded_step_leaves_no_gradient(answer, gen):
    """No gradient is left, after a step and after a spike; what was there before does not count."""
    found, steps = trained(answer, gen, [1.0, 1000.0, 1.0, NAN, 1.0], stale=True)
    for n, (_, _, left) in enumerate(found, 1):
        expect_that(not left, f"guarded_step leaves a gradient at step {n}", parameters=left)
    expect_steps(found, steps)


@pytest.mark.fine
def test_SpikeGuard_even_window(answer, gen):
    """With an even window the median lies between the two in the middle."""
    for window in (2, 4, 6):
        expect_verdicts(answer, drawn(gen), window, 1.25)


@pytest.mark.fine
def test_SpikeGuard_tensors(answer, gen):
    """Losses may be tensors, whose graphs are not kept."""
    guard, losses = answer.SpikeGuard(3, 1.5), drawn(gen, 20)
    leaves = [torch.tensor(loss, dtype=torch.float64, requires_grad=True) for loss in losses]
    yours = [bool(guard.admits(leaf * 1.0)) for leaf in leaves]
    expect_equal(yours, verdicts(losses, 3, 1.5), "admits(loss) for tensors")
    kept = [value for value in json_like(vars(guard)) if isinstance(value, torch.Tensor)]
    expect_that(not kept, "the guard keeps tensors: plain floats are asked for", kept=kept[:2])


def json_like(value):
    """What lies in nested containers."""
    if isinstance(value, dict):
        return [one for part in value.values() for one in json_like(part)]
    if isinstance(value, torch.Tensor) or not hasattr(value, "__iter__") or isinstance(value, str):
        return [value]
    return [one for part in value for one in json_like(part)]


@pytest.mark.fine
def test_SpikeGuard_restart(answer, gen):
    """A guard that loads a state, which went through JSON, goes on like the one that gave it."""
    losses = drawn(gen)
    for cut in (2, 30):
        one = answer.SpikeGuard(5, 1.5)
        for loss in losses[:cut]:
            one.admits(loss)
        state = one.state_dict()
        text = json.dumps(state)
        first = [bool(one.admits(loss)) for loss in losses[cut:]]
        expect_equal(json.dumps(state), text, "state_dict(), after the guard went on")
        two = answer.SpikeGuard(5, 1.5)
        two.load_state_dict(json.loads(text))
        second = [bool(two.admits(loss)) for loss in losses[cut:]]
        expect_equal(second, first, f"admits(loss) after a restart at loss {cut}")


@pytest.mark.fine
@pytest.mark.parametrize("numbers", [(0, 2.0), (-1, 2.0), (3, 1.0), (3, 0.5)])
def test_SpikeGuard_errors(answer, numbers):
    """Windows below 1 and factors up to 1 raise ValueError."""
    expect_raises(ValueError, lambda: answer.SpikeGuard(*numbers), f"SpikeGuard{numbers}")


def oracle(answer, gen):
    def told(window, factor):
        losses = drawn(gen, 90)

        def run():
            guard = answer.SpikeGuard(window, factor)
            return [bool(guard.admits(loss)) for loss in losses]

        return run

    def weights(sizes):
        found, _ = trained(answer, gen, sizes)
        return [(took, weight) for took, weight, _ in found]

    return {
        "a window of five": told(5, 1.5),
        "a window of nine": told(9, 1.25),
        "a window of three": told(3, 1.5),
        "steps of training": weights([1.0, 1000.0, 1.0, NAN, 1.0]),
    }
