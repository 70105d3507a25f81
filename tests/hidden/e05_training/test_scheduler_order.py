"""What grades train: rates and weights with each schedule; plateaus, rates as tensors, gradients, graphs."""

import gc
import weakref
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import ExponentialLR, OneCycleLR, ReduceLROnPlateau, StepLR

from grader.checks import expect_equal, expect_number, expect_that
from grader.checks.contract import Contract, given

pytestmark = pytest.mark.filterwarnings("ignore:Detected call of")


def written_out(
    weight,
    batches,
    epochs,
    lr,
    by_batch=1.0,
    by_epoch=1.0,
    early=0,
    count=lambda epoch, number: epoch,
    steps=lambda epoch, number: number,
    told=0,
    piles=False,
):
    """The weights and the rates of a linear model, by hand; or with a mistake."""
    weight, number, rates, old = weight.double(), 0, [], 0.0
    for epoch in range(epochs):
        for x, y in batches:
            x, y = x.double(), y.double()
            rate = lr * by_batch ** (steps(epoch, number) + early) * by_epoch ** count(epoch, number)
            gradient = 2 * (x @ weight.T - y).T @ x / len(x) + (old if piles else 0.0)
            weight = weight - rate * gradient
            rates.append(rate * by_batch ** (told - early))
            number, old = number + 1, gradient
    return [weight.float(), torch.tensor(rates)]


def wrong(**how):
    return partial(written_out, **how)


def ready(weight, lr):
    model = nn.Linear(3, 1, bias=False)
    model.weight.data.copy_(weight)
    return model, torch.optim.SGD(model.parameters(), lr=lr)


def run(answer, weight, batches, epochs, lr, by_batch=1.0, by_epoch=1.0):
    model, optimizer = ready(weight, lr)
    first = None if by_batch == 1.0 else ExponentialLR(optimizer, by_batch)
    second = None if by_epoch == 1.0 else StepLR(optimizer, 1, by_epoch)
    rates = answer.train(model, F.mse_loss, optimizer, batches, epochs, first, second)
    return [model.weight.detach(), torch.tensor([float(rate) for rate in rates])]


def of(gen, *sizes, epochs=3, **factors):
    batches = [(torch.randn(n, 3, generator=gen), torch.randn(n, 1, generator=gen)) for n in sizes]
    lr = 0.05 + 0.05 * torch.rand((), generator=gen).item()
    factors = {k: f + 0.1 * torch.rand((), generator=gen).item() for k, f in factors.items()}
    return given(torch.randn(1, 3, generator=gen), batches, epochs, lr, **factors)


contract = Contract(
    "train(model, loss_fn, optimizer, batches, epochs, by_batch, by_epoch)",
    reference=written_out,
    use=run,
    inputs=lambda gen: {
        "both schedules": of(gen, 4, 2, 3, by_batch=0.6, by_epoch=0.4),
        "by_batch": of(gen, 4, 2, 3, by_batch=0.6),
        "by_epoch": of(gen, 2, 5, by_epoch=0.4),
        "no schedule": of(gen, 4, 3),
    },
    widens=False,
    ulps=1e3,
    scale=1.0,
    suspects={
        "by_batch steps before the optimizer: the first rate is never used": wrong(early=1),
        "by_epoch steps after each batch": wrong(count=lambda epoch, number: number),
        "by_epoch steps before the epoch, not after it": wrong(count=lambda epoch, number: epoch + 1),
        "by_epoch never steps": wrong(count=lambda epoch, number: 0),
        "by_batch steps once in an epoch": wrong(steps=lambda epoch, number: epoch),
        "by_batch never steps": wrong(steps=lambda epoch, number: 0),
        "by_batch steps twice after a batch": wrong(steps=lambda epoch, number: 2 * number),
        "these are the rates after by_batch has stepped, not those of the steps": wrong(told=1),
        "gradients of the batch before count as well": wrong(piles=True),
    },
)


def example(gen, lr=0.1):
    weight, batches, *_ = of(gen, 4, 1, 2).args
    return *ready(weight, lr), batches


def test_one_cycle(answer, gen):
    """A schedule of as many steps as there are batches in all epochs goes its whole way."""
    model, optimizer, batches = example(gen)
    cycle = OneCycleLR(optimizer, max_lr=0.2, total_steps=6)
    wanted = [0.2 / 25] + [0.0] * 5
    probe = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)
    probed = OneCycleLR(probe, max_lr=0.2, total_steps=6)
    for number in range(6):
        wanted[number] = probe.param_groups[0]["lr"]
        probe.step()
        probed.step()
    rates = answer.train(model, F.mse_loss, optimizer, batches, 2, by_batch=cycle)
    found = [round(float(rate), 6) for rate in rates]
    expect_equal(found, [round(rate, 6) for rate in wanted], "the rates with by_batch=OneCycleLR(…)")


def test_first_group(answer, gen):
    """The rates are those of the optimizer's first group."""
    model, _, batches = example(gen)
    other = nn.Parameter(torch.ones(2))
    groups = [{"params": model.parameters()}, {"params": [other], "lr": 0.75}]
    optimizer = torch.optim.SGD(groups, lr=0.125)
    half = StepLR(optimizer, 1, 0.5)
    rates = answer.train(model, F.mse_loss, optimizer, batches[:2], 2, by_epoch=half)
    suspects = {"these are the rates of the last group": lambda: [0.75, 0.75, 0.375, 0.375]}
    wanted = [0.125, 0.125, 0.0625, 0.0625]
    expect_equal([float(rate) for rate in rates], wanted, "the rates of two groups", suspects=suspects)


class Noting(ReduceLROnPlateau):
    """Notes what it is told."""

    def step(self, metrics, epoch=None):
        self.__dict__.setdefault("told", []).append(float(metrics))
        return super().step(metrics, epoch)


def losses_by_epoch(weight, batches, lr, mean):
    """The losses that an epoch of training sees, as one number, for two epochs."""
    weight, found = weight.double(), []
    for _ in range(2):
        losses = []
        for x, y in batches:
            error = x.double() @ weight.T - y.double()
            losses.append((error.square().mean().item(), len(x)))
            weight = weight - lr * 2 * error.T @ x.double() / len(x)
        found.append(mean(losses))
    return found


@pytest.mark.fine
def test_plateau(answer, gen):
    """A ReduceLROnPlateau gets the mean loss over the rows of each epoch."""
    model, optimizer, batches = example(gen, 0.05)
    start = model.weight.detach().clone()
    plateau = Noting(optimizer, factor=0.5, patience=5)
    answer.train(model, F.mse_loss, optimizer, batches, 2, by_epoch=plateau)
    rows = lambda losses: sum(loss * n for loss, n in losses) / sum(n for _, n in losses)  # noqa: E731
    wanted = losses_by_epoch(start, batches, 0.05, rows)
    told = getattr(plateau, "told", [])
    expect_equal(len(told), 2, "how often by_epoch, a ReduceLROnPlateau, steps in two epochs")
    ways = {
        "the loss of the last batch alone": lambda losses: losses[-1][0],
        "a mean of the batches' means: weigh them by their rows": lambda losses: (
            sum(loss for loss, _ in losses) / len(losses)
        ),
        "the sum over the batches": lambda losses: sum(loss for loss, _ in losses),
    }
    for number, (yours, exact) in enumerate(zip(told, wanted, strict=True)):
        suspects = {
            words: lambda way=way, number=number: losses_by_epoch(start, batches, 0.05, way)[number]
            for words, way in ways.items()
        }
        call = f"what a ReduceLROnPlateau is told after epoch {number}"
        expect_number(yours, exact, call, rtol=1e-4, suspects=suspects)


@pytest.mark.fine
def test_rate_as_a_tensor(answer, gen):
    """Where lr is a tensor, the rates are floats, each that of its step."""
    model, optimizer, batches = example(gen, torch.tensor(0.25))
    half = ExponentialLR(optimizer, 0.5)
    rates = answer.train(model, F.mse_loss, optimizer, batches[:1], 3, by_epoch=half)
    kinds = sorted({type(rate).__name__ for rate in rates})
    expect_equal(kinds, ["float"], "the types of the rates, where lr is a tensor")
    expect_equal(rates, [0.25, 0.125, 0.0625], "the rates, where lr is a tensor")


@pytest.mark.fine
def test_old_gradients(answer, gen):
    """What lies in `.grad` before the first batch has no influence, and no loss is kept."""
    model, optimizer, batches = example(gen)
    weight = model.weight.detach().clone()
    model.weight.grad = torch.full_like(model.weight, 7.0)
    kept = []

    def loss_fn(y, target):
        loss = F.mse_loss(y, target)
        kept.append(weakref.ref(loss))
        return loss

    answer.train(model, loss_fn, optimizer, batches[:1], 1)
    wanted = written_out(weight, batches[:1], 1, 0.1)[0]
    expect_number(
        (model.weight.detach() - wanted).abs().max().item(),
        0.0,
        "how far the weight is off where old numbers lay in `.grad`",
        atol=1e-5,
    )
    gc.collect()
    expect_that(kept[0]() is None, "a loss is alive after train(…), and its graph with it")
