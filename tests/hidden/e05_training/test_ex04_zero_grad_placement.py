"""What grades train_epoch: weights, gradients at each step, what on_gradients does, parameters of others."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, global_rng_untouched
from grader.checks.registered import expect_weights, randomize

CALL = "train_epoch(model, loss_fn, optimizer, batches, on_gradients)"

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


def written_out(model, params, optimizer, batches, change=lambda gradients: gradients):
    """The losses, and the gradients of each batch, of a loop without `.grad` from earlier ones."""
    losses, seen = [], []
    for inputs, targets in batches:
        loss = F.mse_loss(model(inputs), targets)
        gradients = torch.autograd.grad(loss, params, allow_unused=True)
        seen.append([None if g is None else g.clone() for g in gradients])
        for p, g in zip(params, change(gradients), strict=True):
            p.grad = g
        optimizer.step()
        losses.append(loss.item())
    return losses, seen


def expect_losses(yours, wanted, call):
    expect_equal(type(yours).__name__, "list", f"the type of {call}")
    expect_equal([type(loss).__name__ for loss in yours], ["float"] * len(wanted), f"the types in {call}")
    for number, (loss, right) in enumerate(zip(yours, wanted, strict=True)):
        expect_that(
            math.isclose(loss, right, rel_tol=1e-9),
            f"wrong loss of batch {number} from {call}",
            yours=f"{loss:.12g}",
            wanted=f"{right:.12g}",
        )


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_weights_and_losses(answer, gen, kind):
    """Weights and losses are those of a loop in which each step sees its own batch alone."""
    model, batches = network(gen), batches_of(gen, 4, 1, 3)
    batches[2][1].mul_(1e4)  # large gradients are nobody's to clip
    twin = copy.deepcopy(model)
    wanted, _ = written_out(twin, list(twin.parameters()), OPTIMIZERS[kind](twin.parameters()), batches)
    with global_rng_untouched(CALL):
        yours = answer.train_epoch(model, F.mse_loss, OPTIMIZERS[kind](model.parameters()), iter(batches))
    expect_losses(yours, wanted, f"train_epoch(…) with {kind}")
    expect_weights(model, twin, f"three batches with {kind}")


def test_on_gradients_sees_this_batch(answer, gen):
    """Each time on_gradients finds the gradients of that batch alone, before the weights move."""
    model, batches = network(gen), batches_of(gen, 4, 2, 3)
    twin = copy.deepcopy(model)
    _, wanted = written_out(twin, list(twin.parameters()), OPTIMIZERS["SGD"](twin.parameters()), batches)
    for p in model.parameters():
        p.grad = torch.full_like(p, 7.0)
    optimizer, seen, order = OPTIMIZERS["SGD"](model.parameters()), [], []
    optimizer.register_step_post_hook(lambda *_: order.append("step"))

    def on_gradients():
        order.append("on_gradients")
        seen.append([None if p.grad is None else p.grad.clone() for p in model.parameters()])

    answer.train_epoch(model, F.mse_loss, optimizer, batches, on_gradients=on_gradients)
    for number, (yours, right) in enumerate(zip(seen, wanted, strict=False)):
        for (name, _), mine, g in zip(model.named_parameters(), yours, right, strict=True):
            where = f"the gradient of {name} that on_gradients finds for batch {number}"
            expect_that(mine is not None, f"{where} is None")
            expect_close(mine, g, where, scale=float(g.abs().max()) + 1.0)
    expect_equal(order, ["on_gradients", "step"] * 3, "what is called, in order, for three batches")


def test_on_gradients_changes_them(answer, gen):
    """What on_gradients makes of the gradients, in place, anew or by a backward, is what the step uses."""
    model, batches = network(gen), batches_of(gen, 4, 2)
    twin = copy.deepcopy(model)

    def change(gradients):
        return gradients[0] * 0.5 + 2 * next(twin.parameters()).detach(), -gradients[1], None, gradients[3]

    written_out(twin, list(twin.parameters()), OPTIMIZERS["AdamW"](twin.parameters()), batches, change)
    first, second, third, _ = model.parameters()

    def on_gradients():
        first.grad.mul_(0.5)
        first.square().sum().backward()  # a penalty
        second.grad = -second.grad
        third.grad = None

    answer.train_epoch(model, F.mse_loss, OPTIMIZERS["AdamW"](model.parameters()), batches, on_gradients)
    expect_weights(model, twin, "two batches where on_gradients changes the gradients")


class Exploded(FloatingPointError, RuntimeError, ValueError, KeyboardInterrupt):
    """An error of several kinds, so that whoever catches one of them is found out."""


def test_error_in_on_gradients(answer, gen):
    """An error in on_gradients comes through, and that batch moves no weights."""
    model, batches = network(gen), batches_of(gen, 4, 2, 3)
    twin, calls = copy.deepcopy(model), []
    written_out(twin, list(twin.parameters()), OPTIMIZERS["SGD"](twin.parameters()), batches[:1])

    def on_gradients():
        calls.append(1)
        if len(calls) == 2:
            raise Exploded("the gradients explode")

    expect_raises(
        Exploded,
        lambda: answer.train_epoch(
            model, F.mse_loss, OPTIMIZERS["SGD"](model.parameters()), batches, on_gradients
        ),
        f"{CALL} where on_gradients raises it",
    )
    expect_weights(model, twin, "an error in on_gradients at the second batch")


class Switching(nn.Module):
    """Uses one head or the other, as the first number of the inputs says."""

    def __init__(self, gen):
        super().__init__()
        self.body, self.left, self.right = (network(gen), nn.Linear(2, 2).double(), nn.Linear(2, 2).double())

    def forward(self, x):
        return (self.left if x[0, 0] > 0 else self.right)(self.body(x))


@pytest.mark.parametrize("kind", ["SGD with momentum", "AdamW"])
def test_parameters_without_gradient(answer, gen, kind):
    """What the loss of a batch does not depend on has None in `.grad`, and no momentum or decay moves it."""
    model, batches = Switching(gen), batches_of(gen, 3, 3, 3)
    for (inputs, _), sign in zip(batches, (1, -1, 1), strict=True):
        inputs[0, 0] = sign
    model.body[0].bias.requires_grad_(False)
    model.body[0].bias.grad = torch.ones(4).double()  # frozen since, with a gradient from before
    twin = copy.deepcopy(model)
    trained = [p for p in twin.parameters() if p.requires_grad]
    twin.body[0].bias.grad = None
    written_out(twin, trained, OPTIMIZERS[kind](twin.parameters()), batches)
    optimizer, found = OPTIMIZERS[kind](model.parameters()), []
    optimizer.register_step_post_hook(
        lambda *_: found.append(
            [p.grad is None for p in (model.left.weight, model.right.weight, model.body[0].bias)]
        )
    )
    answer.train_epoch(model, F.mse_loss, optimizer, batches)
    wanted = [[False, True, True], [True, False, True], [False, True, True]]
    expect_equal(found, wanted, "whether `.grad` is None at each step for (used, unused, frozen)")
    expect_weights(model, twin, f"three batches with {kind}, where one head is used at a time")


def test_parameters_of_others(answer, gen):
    """Gradients of parameters that the optimizer does not hold add up, on top of what is there."""
    model, batches = network(gen), batches_of(gen, 4, 2)
    body, head = list(model[0].parameters()), list(model[2].parameters())
    twin = copy.deepcopy(model)
    params = list(twin.parameters())
    _, seen = written_out(twin, params, OPTIMIZERS["SGD"](twin[2].parameters()), batches)
    for p in body:
        p.grad = torch.full_like(p, 3.0)
    body[1].grad = None  # nothing is there yet
    answer.train_epoch(model, F.mse_loss, OPTIMIZERS["SGD"](head), batches)
    expect_weights(model, twin, "two batches with an optimizer for the last layer")
    for index, p in enumerate(body):
        wanted = (0.0 if index == 1 else 3.0) + seen[0][index] + seen[1][index]
        where = "the gradient of a parameter of another optimizer"
        expect_that(p.grad is not None, f"{where} is None after {CALL}")
        expect_close(p.grad, wanted, where, scale=10.0)


def test_parameters_outside_the_model(answer, gen):
    """A temperature that loss_fn holds is trained with the gradient of each batch alone, too."""
    model, batches = network(gen), batches_of(gen, 4, 2, 3)
    temperature = nn.Parameter(torch.tensor(1.5).double())
    loss_fn = lambda p, t: F.mse_loss(p / temperature, t)  # noqa: E731
    optimizer = torch.optim.SGD(
        [{"params": model.parameters(), "lr": 0.0}, {"params": [temperature]}], lr=0.01
    )
    wanted = temperature.detach().clone()
    for inputs, targets in batches:
        leaf = wanted.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(F.mse_loss(model(inputs) / leaf, targets), [leaf])
        wanted = wanted - 0.01 * gradient
    temperature.grad = torch.tensor(50.0).double()
    answer.train_epoch(model, loss_fn, optimizer, batches)
    expect_close(temperature.detach(), wanted, "the temperature in loss_fn after three batches", scale=1.0)


def test_group_that_is_added(answer, gen):
    """A layer that on_gradients thaws, by a group of its own, has the gradient of each batch alone, too."""
    model, batches = network(gen), batches_of(gen, 4, 2, 3)
    twin, params = copy.deepcopy(model), list(model[0].parameters())
    kind = OPTIMIZERS["SGD with momentum"]
    written_out(twin, list(twin.parameters()), kind(twin.parameters()), batches)
    optimizer = kind(model[2].parameters())

    def on_gradients():
        if len(optimizer.param_groups) == 1:
            optimizer.add_param_group({"params": params})

    answer.train_epoch(model, F.mse_loss, optimizer, batches, on_gradients)
    expect_weights(model, twin, "three batches, where on_gradients adds a group at the first")


def test_called_once(answer, gen):
    """For each batch, model, loss and optimizer run once; without batches nothing does."""
    for count in (3, 1, 0):
        model, batches = network(gen).eval(), batches_of(gen, *[2] * count)
        runs, steps, losses = [], [], []
        optimizer = OPTIMIZERS["SGD"](model.parameters())
        model.register_forward_hook(lambda m, *_, runs=runs: runs.append(m.training))
        optimizer.register_step_post_hook(lambda *_, steps=steps: steps.append(1))

        def loss_fn(predictions, targets, losses=losses):
            losses.append(targets)
            return F.mse_loss(predictions, targets) * (math.nan if len(losses) == 2 else 1.0)

        # no reason to leave a step out: a NaN, what on_gradients returns, and that it leaves no gradient
        given = (batch for batch in batches)
        yours = answer.train_epoch(model, loss_fn, optimizer, given, lambda m=model: bool(m.zero_grad()))
        expect_equal(type(yours).__name__, "list", f"the type of what {count} batches give")
        expect_equal(len(yours), count, f"the number of losses from {count} batches")
        expect_equal(len(steps), count, f"the steps of the optimizer in {count} batches")
        expect_equal(len(losses), count, f"the runs of loss_fn in {count} batches")
        expect_equal(runs, [False] * count, "the training flag at each run of a model in evaluation mode")
        for targets, (_, right) in zip(losses, batches, strict=True):
            expect_equal(targets, right, "the targets that loss_fn is given")


def oracle(answer, gen):
    results = []
    for kind in OPTIMIZERS:
        model, batches, seen = network(gen), batches_of(gen, 4, 1, 3), []
        optimizer = OPTIMIZERS[kind](model.parameters())
        losses = answer.train_epoch(
            model, F.mse_loss, optimizer, batches, lambda m=model, s=seen: s.append(m[0].weight.grad.clone())
        )
        results.append([losses, seen, [p.detach().clone() for p in model.parameters()]])
    return results
