"""What grades train_epoch: weights, gradients at each step, what on_gradients does, parameters of others."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_raises
from grader.checks.contract import Contract, given, values
from grader.checks.registered import randomize, state_of

OPTIMIZERS = {
    "SGD": partial(torch.optim.SGD, lr=0.1),
    "SGD with momentum": partial(torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": partial(torch.optim.AdamW, lr=0.05, weight_decay=0.1),
}


class Halving(nn.Module):
    """What a caller may do: clip one gradient in place, put another one in its place."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self):
        first, *_, last = self.model
        first.weight.grad.mul_(0.5)
        last.weight.grad = -last.weight.grad


class Looking(nn.Module):
    """Keeps what on_gradients finds, under the name that feedback has for it."""

    def __init__(self, model):
        super().__init__()
        self.model = [model]  # no part of it
        self.register_buffer("the number of calls of on_gradients", torch.zeros(()))

    def forward(self):
        counted, [model] = next(self.buffers()), self.model
        counted += 1
        for name, layer in {"first": model[0], "last": model[2]}.items():
            for what, t in {"gradient": layer.weight.grad, "weight": layer.weight.detach()}.items():
                found = f"the {what} of the {name} layer that on_gradients finds in batch {int(counted)}"
                self.register_buffer(found, None if t is None else t.clone())


def training(gen, *sizes, kind="SGD", look=lambda model: None, of=slice(None), grad=None):
    """An epoch of a network with 3 features, 4 hidden units and 2 outputs; the optimizer holds a part."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    randomize(model, gen)
    for p in model.parameters():
        p.grad = None if grad is None else torch.full_like(p, grad)
    batches = [[torch.randn(n, width, generator=gen).double() for width in (3, 2)] for n in sizes]
    return given(model, F.mse_loss, OPTIMIZERS[kind](model[of].parameters()), batches, look(model))


def unused(gen):
    """An epoch of an optimizer that moved a layer by momentum which the model does not use any more."""
    call = training(gen, 4, 2, kind="SGD with momentum")
    model, _, optimizer, *_ = call.args
    model.register_parameter("unused", nn.Parameter(torch.ones(2).double()))
    optimizer.add_param_group({"params": [model.unused]})
    model.unused.grad = torch.ones(2).double()
    optimizer.step()
    return call


def written_out(
    model, loss_fn, optimizer, batches, look=None, clear="params", zeros=(), late=False, tell=None
):
    """The losses of a loop without any helper; or with a mistake."""
    held, losses = [p for group in optimizer.param_groups for p in group["params"]], []
    for inputs, targets in batches:
        for p in {"params": held, "model": model.parameters(), "": ()}[clear]:
            p.grad = torch.zeros_like(p) if "before" in zeros else None
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        if look and not late:
            look()
        for p in held if "after" in zeros else ():
            p.grad = torch.zeros_like(p)
        optimizer.step()
        if look and late:
            look()
        losses.append((tell(model, loss_fn, inputs, targets) if tell else loss).item())
    return losses


def wrong(**how):
    return partial(written_out, **how)


contract = Contract(
    "train_epoch(model, loss_fn, optimizer, batches, on_gradients)",
    reference=written_out,
    inputs=lambda gen: {
        **{f"three batches, with {kind}": training(gen, 4, 1, 3, kind=kind) for kind in OPTIMIZERS},
        "a batch, with SGD": training(gen, 5),
        "two batches, where on_gradients changes the gradients": training(gen, 4, 2, look=Halving),
    },
    after="model",
    ulps=1e4,
    scale=1.0,
    suspects={
        "gradients from before count as well: clear them before each backward": wrong(clear=""),
        "what a batch does not use has zeros in `.grad`, not None, and moves": wrong(zeros=["before"]),
        "the weights stand still from batch to batch: `.grad` is cleared before the step, or one step is "
        "taken at the end": wrong(zeros=["after"]),
        "what on_gradients makes of the gradients is lost": lambda *call: written_out(*call[:4]),
        "on_gradients is called after the step: the weights have moved": wrong(late=True),
        "the model's gradients are cleared: only what the optimizer holds is to be": wrong(clear="model"),
        "this is the loss after the step": wrong(tell=lambda model, loss_fn, x, y: loss_fn(model(x), y)),
    },
    job=[
        values(title="Weights and losses are those of a loop in which each step sees its own batch alone."),
        values(
            inputs=lambda gen: {"three batches": training(gen, 4, 2, 3, look=Looking)},
            after="on_gradients",
            name="on_gradients_sees_this_batch",
            title="Each time on_gradients finds the gradients of that batch alone, before the weights move.",
        ),
    ],
    fine=[
        values(
            inputs=lambda gen: {"old numbers in `.grad`": training(gen, 4, grad=7.0)},
            name="old_gradients",
            title="What lies in `.grad` before the call has no influence.",
        ),
        values(
            inputs=lambda gen: {
                "an optimizer that holds the last layer": training(gen, 4, 2, of=slice(2, 3), look=Looking)
            },
            after="on_gradients",
            name="parameters_of_others",
            title="Gradients of parameters that the optimizer does not hold add up.",
        ),
        values(
            inputs=lambda gen: {"a model with an unused parameter": unused(gen)},
            name="parameters_without_gradient",
            title="What the loss does not depend on has None in `.grad`, and no momentum moves it.",
        ),
    ],
)


@pytest.mark.fine
def test_error_in_on_gradients(answer, gen):
    """An error in on_gradients comes through, and that batch moves no weights."""
    model, *others, _ = training(gen, 4, 2).args
    before = state_of(model)

    def explode():
        raise FloatingPointError("the gradients explode")

    run = lambda: answer.train_epoch(model, *others, explode)  # noqa: E731
    expect_raises(FloatingPointError, run, "train_epoch(…) where on_gradients raises it")
    for name, now in state_of(model).items():
        expect_equal(now, before[name], f"{name} after an error in on_gradients at the first batch")
