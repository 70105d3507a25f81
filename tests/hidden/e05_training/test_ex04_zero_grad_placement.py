"""What grades train_epoch: weights, gradients at each step, what on_gradients does, parameters of others."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_number, expect_raises, expect_that
from grader.checks.registered import expect_weights, randomize, state_of

OPTIMIZERS = {
    "SGD": lambda params: torch.optim.SGD(params, lr=0.1),
    "SGD with momentum": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda params: torch.optim.AdamW(params, lr=0.05, weight_decay=0.1),
}


def network(gen):
    """3 features, 4 hidden units, 2 outputs."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    randomize(model, gen)
    return model


def batches_of(gen, *sizes):
    return [
        (torch.randn(n, 3, generator=gen).double(), torch.randn(n, 2, generator=gen).double()) for n in sizes
    ]


def written_out(model, kind, batches, change=lambda: None, clear=True, zeros=False, each=True):
    """The losses of a loop without any helper; or with a mistake."""
    optimizer, losses = OPTIMIZERS[kind](model.parameters()), []
    for inputs, targets in batches:
        for p in model.parameters() if clear else ():
            p.grad = None
        loss = F.mse_loss(model(inputs), targets)
        loss.backward()
        change()
        for p in model.parameters() if zeros else ():
            p.grad = torch.zeros_like(p)
        if each or len(losses) == len(batches) - 1:
            optimizer.step()
        losses.append(loss.item())
    return losses


MISTAKES = {
    "the gradients of the batches before count as well": {"clear": False},
    "the gradients are cleared between the backward and the step": {"zeros": True},
    "the gradients of all batches are added up, for one step at the end": {"clear": False, "each": False},
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_weights_and_losses(answer, gen, kind):
    """Weights and losses are those of a loop in which each step sees its own batch alone."""
    model, batches = network(gen), batches_of(gen, 4, 1, 3)
    start, twin, before = copy.deepcopy(model), copy.deepcopy(model), state_of(model)
    losses = written_out(twin, kind, batches)
    yours = answer.train_epoch(model, F.mse_loss, OPTIMIZERS[kind](model.parameters()), batches)

    def after(name, mistake):
        other = copy.deepcopy(start)
        written_out(other, kind, batches, **mistake)
        return state_of(other)[name]

    mine = state_of(model)
    for name, right in state_of(twin).items():
        suspects = {told: lambda n=name, m=mistake: after(n, m) for told, mistake in MISTAKES.items()}
        call = f"{name} after three batches with {kind}"
        expect_close(mine[name], right, call, ulps=1e4, scale=1.0, before=before[name], suspects=suspects)
    expect_equal(len(yours), 3, "the number of losses from train_epoch(…) with three batches")
    last = {"the losses after the steps": lambda: F.mse_loss(model(batches[2][0]), batches[2][1]).item()}
    for number in (2, 1, 0):
        call = f"loss of batch {number} from train_epoch(…) with {kind}"
        expect_number(yours[number], losses[number], call, suspects=last if number == 2 else None)


def test_on_gradients_sees_this_batch(answer, gen):
    """Each time on_gradients finds the gradients of that batch alone, before the weights move."""
    model, batches = network(gen), batches_of(gen, 4, 2, 3)
    twin, wanted = copy.deepcopy(model), []
    gradient_of = lambda net: None if net[2].weight.grad is None else net[2].weight.grad.clone()  # noqa: E731
    written_out(twin, "SGD", batches, lambda: wanted.append(gradient_of(twin)))
    optimizer, seen, order = OPTIMIZERS["SGD"](model.parameters()), [], []
    optimizer.register_step_post_hook(lambda *_: order.append("step"))
    look = lambda: (seen.append(gradient_of(model)), order.append("on_gradients"))  # noqa: E731
    answer.train_epoch(model, F.mse_loss, optimizer, batches, on_gradients=look)
    expect_equal(order, ["on_gradients", "step"] * 3, "what is called, in order, for three batches")
    for number, (mine, right) in enumerate(zip(seen, wanted, strict=True)):
        where = f"the gradient that on_gradients finds for batch {number}"
        expect_that(mine is not None, f"{where} is None")
        sums = {"the gradients of the batches before are in it": lambda n=number: sum(wanted[: n + 1])}
        expect_close(mine, right, where, ulps=1e4, scale=1.0, suspects=sums if number == 1 else None)


def halve(net):
    """What a caller may do: clip one gradient in place, put another one in its place."""
    net[0].weight.grad.mul_(0.5)
    net[2].weight.grad = -net[2].weight.grad


def test_on_gradients_changes_them(answer, gen):
    """What on_gradients makes of the gradients, in place or anew, is what the step uses."""
    model, batches = network(gen), batches_of(gen, 4, 2)
    twin = copy.deepcopy(model)
    written_out(twin, "SGD", batches, lambda: halve(twin))
    optimizer = OPTIMIZERS["SGD"](model.parameters())
    answer.train_epoch(model, F.mse_loss, optimizer, batches, lambda: halve(model))
    expect_weights(model, twin, "two batches where on_gradients changes the gradients")


@pytest.mark.fine
def test_old_gradients(answer, gen):
    """What lies in `.grad` before the call has no influence."""
    model, batches = network(gen), batches_of(gen, 4)
    twin = copy.deepcopy(model)
    written_out(twin, "SGD", batches)
    wanted = twin[2].weight.detach()
    for p in model.parameters():
        p.grad = torch.full_like(p, 7.0)
    answer.train_epoch(model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), batches)
    suspects = {"the old numbers count: clear before the first backward": lambda: wanted - 0.1 * 7.0}
    what = "the last weight after a batch, with old numbers in `.grad`"
    expect_close(model[2].weight.detach(), wanted, what, ulps=1e4, suspects=suspects)


@pytest.mark.fine
def test_parameters_of_others(answer, gen):
    """Gradients of parameters that the optimizer does not hold add up."""
    model, batches = network(gen), batches_of(gen, 4, 2)
    body, wanted = model[0].weight, torch.zeros(4, 3).double()
    for inputs, targets in batches:
        wanted += torch.autograd.grad(F.mse_loss(model(inputs), targets), [body])[0]
    still = torch.optim.SGD(model[2].parameters(), lr=0.0)
    answer.train_epoch(model, F.mse_loss, still, batches)
    where = "the gradient of a parameter of another optimizer"
    expect_that(body.grad is not None, f"{where} is None after train_epoch(…)")
    last = {
        "it is that of the last batch alone: the model's gradients are cleared": lambda: torch.autograd.grad(
            F.mse_loss(model(batches[1][0]), batches[1][1]), [body]
        )[0]
    }
    expect_close(body.grad, wanted, where, ulps=1e4, scale=1.0, suspects=last)


@pytest.mark.fine
def test_parameters_without_gradient(answer, gen):
    """What the loss of a batch does not depend on has None in `.grad`, and no momentum moves it."""
    model, sometimes, seen = network(gen), nn.Parameter(torch.ones(2).double()), []
    optimizer = OPTIMIZERS["SGD with momentum"]([*model.parameters(), sometimes])
    loss_fn = lambda p, t: F.mse_loss(p + sometimes if len(seen) == 0 else p, t)  # noqa: E731
    look = lambda: seen.append((sometimes.grad, sometimes.detach().clone()))  # noqa: E731
    answer.train_epoch(model, loss_fn, optimizer, batches_of(gen, 4, 2, 2), look)
    expect_that(seen[1][0] is None, "a parameter that a batch does not use has a gradient", yours=seen[1][0])
    expect_equal(seen[2][1], seen[1][1], "a parameter that a batch does not use, after the step")


@pytest.mark.fine
def test_error_in_on_gradients(answer, gen):
    """An error in on_gradients comes through, and that batch moves no weights."""
    model, batches = network(gen), batches_of(gen, 4, 2)
    optimizer, before = OPTIMIZERS["SGD"](model.parameters()), state_of(model)

    def explode():
        raise FloatingPointError("the gradients explode")

    run = lambda: answer.train_epoch(model, F.mse_loss, optimizer, batches, explode)  # noqa: E731
    expect_raises(FloatingPointError, run, "train_epoch(…) where on_gradients raises it")
    for name, now in state_of(model).items():
        expect_equal(now, before[name], f"{name} after an error in on_gradients at the first batch")


def oracle(answer, gen):
    def of(kind, *sizes, change=lambda net: None):
        model, batches, seen = network(gen), batches_of(gen, *sizes), []

        def on_gradients():
            change(model)
            seen.append([None if p.grad is None else p.grad.clone() for p in model.parameters()])

        def losses_gradients_and_weights():
            optimizer = OPTIMIZERS[kind](model.parameters())
            losses = answer.train_epoch(model, F.mse_loss, optimizer, batches, on_gradients)
            return [losses, seen, [p.detach().float() for p in model.parameters()]]

        return losses_gradients_and_weights

    return {
        "three batches with SGD": of("SGD", 4, 1, 3),
        "two batches with momentum, where on_gradients changes them": of(
            "SGD with momentum", 5, 3, change=halve
        ),
        "four batches with AdamW": of("AdamW", 2, 3, 2, 4),
    }
