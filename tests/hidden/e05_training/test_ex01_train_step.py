"""What grades train_step: losses and weights of several steps, what runs; gradients, modes, nothing else."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_equal,
    expect_gradient,
    expect_number,
    expect_that,
    modes_kept,
)
from grader.checks.registered import randomize, state_of

CALL = "train_step(model, loss_fn, optimizer, inputs, targets)"

OPTIMIZERS = {
    "SGD": lambda params: torch.optim.SGD(params, lr=0.1),
    "SGD with momentum": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda params: torch.optim.AdamW(params, lr=0.05, weight_decay=0.1),
}
MISTAKES = {
    "the gradients of the batches before count as well: nothing clears them": {"clear": False},
    "the optimizer takes two steps in a call": {"times": 2},
}


def network(gen):
    """3 features, 4 hidden units, 2 outputs."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    randomize(model, gen)
    return model


def reader(gen):
    """3 tokens of 6, 2 classes."""
    model = nn.Sequential(nn.Embedding(6, 4), nn.Flatten(), nn.Linear(12, 2)).double()
    randomize(model, gen)
    return model


def batches(gen, count=3):
    return [
        (torch.randn(5, 3, generator=gen).double(), torch.randn(5, 2, generator=gen).double())
        for _ in range(count)
    ]


def texts(gen, count=2):
    draw = lambda high, *size: torch.randint(high, size, generator=gen)  # noqa: E731
    return [(draw(6, 7, 3), draw(2, 7)) for _ in range(count)]


def written_out(model, loss_fn, kind, steps, clear=True, times=1):
    """The losses of a loop without any helper; or with a mistake."""
    optimizer, losses = OPTIMIZERS[kind](model.parameters()), []
    for inputs, targets in steps:
        for p in model.parameters() if clear else ():
            p.grad = None
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        for _ in range(times):
            optimizer.step()
        losses.append(loss.item())
    return losses


def expect_steps(answer, model, loss_fn, kind, steps):
    """Fail unless losses and weights of each step are those of the loop that is written out."""
    start, optimizer = copy.deepcopy(model), OPTIMIZERS[kind](model.parameters())

    def after(number, **mistake):
        twin = copy.deepcopy(start)
        return written_out(twin, loss_fn, kind, steps[:number], **mistake), state_of(twin)

    for number, (inputs, targets) in enumerate(steps, start=1):
        before, (losses, wanted) = state_of(model), after(number)
        yours = answer.train_step(model, loss_fn, optimizer, inputs, targets)
        suspects = {
            "this is the loss after the step": lambda: loss_fn(model(inputs), targets).item(),  # noqa: B023
            "this is the sum over the batch": lambda: losses[-1] * len(targets),  # noqa: B023
        }
        expect_number(yours, losses[-1], f"loss from step {number} with {kind}", suspects=suspects)
        for name, right in wanted.items():
            suspects = {
                told: lambda n=number, name=name, mistake=mistake: after(n, **mistake)[1][name]
                for told, mistake in MISTAKES.items()
            }
            call, mine = f"{name} after step {number} with {kind}", state_of(model)[name]
            expect_close(mine, right, call, ulps=1e4, scale=1.0, before=before[name], suspects=suspects)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_several_steps(answer, gen, kind):
    """Over several batches, losses and weights are those of a loop that is written out."""
    expect_steps(answer, network(gen), F.mse_loss, kind, batches(gen))


def test_class_numbers(answer, gen):
    """Tokens reach the model, and class numbers the loss, as they are."""
    expect_steps(answer, reader(gen), F.cross_entropy, "SGD", texts(gen))


def test_what_runs(answer, gen):
    """Model, loss and optimizer run once each, and the step finds the gradients."""
    model, (inputs, targets) = network(gen), batches(gen)[0]
    optimizer, runs, losses, found = OPTIMIZERS["SGD"](model.parameters()), [], [], []
    model[0].register_forward_hook(lambda *_: runs.append(1))
    optimizer.register_step_post_hook(lambda *_: found.append(model[0].weight.grad is not None))
    answer.train_step(model, lambda p, t: losses.append(1) or F.mse_loss(p, t), optimizer, inputs, targets)
    for what, times in {"model": runs, "loss_fn": losses, "optimizer.step": found}.items():
        expect_equal(len(times), 1, f"the number of times that {what} runs in train_step(…)")
    expect_that(found[0], "`.grad` is None when the optimizer steps: it is to be filled by then")


@pytest.mark.fine
def test_old_gradients(answer, gen):
    """Numbers that lie in `.grad` before the first call have no influence."""
    model, (inputs, targets) = network(gen), batches(gen)[0]
    (gradient,) = torch.autograd.grad(F.mse_loss(model(inputs), targets), [model[2].weight])
    wanted = model[2].weight.detach() - 0.1 * gradient
    for p in model.parameters():
        p.grad = torch.full_like(p, 10.0)
    answer.train_step(model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), inputs, targets)
    suspects = {"the old numbers count: clear before the backward": lambda: wanted - 0.1 * 10.0}
    what = "the last weight after train_step(…) with numbers in `.grad`"
    expect_close(model[2].weight.detach(), wanted, what, ulps=1e4, suspects=suspects)


@pytest.mark.fine
def test_gradients_stay(answer, gen):
    """Afterwards `.grad` holds the gradients of this batch."""
    model, (inputs, targets) = network(gen), batches(gen)[0]
    wanted = torch.autograd.grad(F.mse_loss(model(inputs), targets), list(model.parameters()))
    answer.train_step(model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), inputs, targets)
    for (name, p), right in zip(model.named_parameters(), wanted, strict=True):
        expect_that(p.grad is not None, f"`.grad` of {name} is None after {CALL}: it was cleared")
        expect_gradient(p.grad, right, f"{name} (in `.grad` afterwards)")


@pytest.mark.fine
def test_parameters_outside_the_model(answer, gen):
    """A temperature in loss_fn that the optimizer holds has the gradient of each batch alone, too."""
    model, temperature = network(gen), nn.Parameter(torch.tensor(1.5).double())
    loss_fn = lambda p, t: F.mse_loss(p / temperature, t)  # noqa: E731
    optimizer = torch.optim.SGD([temperature], lr=0.1)
    for number, (inputs, targets) in enumerate(batches(gen, 2), start=1):
        (gradient,) = torch.autograd.grad(loss_fn(model(inputs), targets), [temperature])
        wanted = temperature.detach() - 0.1 * gradient
        answer.train_step(model, loss_fn, optimizer, inputs, targets)
        what = f"the temperature in loss_fn, which the optimizer holds, after step {number}"
        expect_close(temperature.detach(), wanted, what, ulps=1e4)


@pytest.mark.fine
def test_parameters_without_gradient(answer, gen):
    """A parameter that the loss does not depend on gets no gradient, and no momentum moves it."""
    model, unused = network(gen), nn.Parameter(torch.ones(2).double())
    optimizer = OPTIMIZERS["SGD with momentum"]([*model.parameters(), unused])
    unused.grad = torch.ones(2).double()
    optimizer.step()  # builds up momentum
    before = unused.detach().clone()
    for inputs, targets in batches(gen, 2):
        answer.train_step(model, F.mse_loss, optimizer, inputs, targets)
    expect_that(unused.grad is None, "a parameter that is not used has a gradient", yours=unused.grad)
    expect_equal(unused.detach(), before, f"a parameter that is not used, after {CALL}")


@pytest.mark.fine
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_modes_are_the_callers(answer, training):
    """The model runs in the mode it is in, layer by layer, and keeps it."""
    norm = nn.BatchNorm1d(3)
    model = nn.Sequential(norm, nn.Linear(3, 2)).train(training)
    norm.train(not training)
    inputs, targets = torch.arange(12.0).view(4, 3), torch.zeros(4, 2)
    with modes_kept("train_step(…)", model):
        answer.train_step(model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), inputs, targets)
    what = "the batches that went into the statistics of a batch norm"
    expect_equal(int(norm.num_batches_tracked), int(norm.training), what)


@pytest.mark.fine
def test_hooks(answer, gen):
    """The model's own hooks run."""
    model, (inputs, targets), seen = network(gen), batches(gen)[0], []
    model.register_forward_hook(lambda *_: seen.append(1))
    answer.train_step(model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), inputs, targets)
    expect_that(bool(seen), "a hook on the model does not run: call model(…), not model.forward(…)")


@pytest.mark.fine
def test_large_losses(answer, gen):
    """Large gradients are not clipped."""
    expect_steps(answer, network(gen), lambda p, t: 1e3 * F.mse_loss(p, t), "SGD", batches(gen, 1))


@pytest.mark.fine
def test_nan(answer, gen):
    """A loss of NaN is returned, and its step is taken."""
    model, (inputs, targets), steps = network(gen), batches(gen)[0], []
    optimizer = OPTIMIZERS["SGD"](model.parameters())
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    loss = answer.train_step(model, lambda p, t: p.sum() * math.nan, optimizer, inputs, targets)
    expect_equal(loss, math.nan, f"{CALL} where the loss is NaN")
    expect_equal(len(steps), 1, "the number of steps where the loss is NaN")


def oracle(answer, gen):
    def of(kind, model, loss_fn, steps):
        optimizer = OPTIMIZERS[kind](
            [{"params": model[0].parameters(), "lr": 0.2}, {"params": model[2].parameters()}]
        )

        def losses_and_weights():
            losses = [answer.train_step(model, loss_fn, optimizer, *batch) for batch in steps]
            return [losses, [p.detach().float() for p in model.parameters()]]

        return losses_and_weights

    return {
        "three steps of SGD with momentum": of("SGD with momentum", network(gen), F.mse_loss, batches(gen)),
        "three steps of AdamW, with two learning rates": of("AdamW", network(gen), F.mse_loss, batches(gen)),
        "two steps on tokens and class numbers": of("SGD", reader(gen), F.cross_entropy, texts(gen)),
    }
