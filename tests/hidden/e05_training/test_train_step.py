"""What grades train_step: losses and weights of several steps, what runs; gradients, modes, nothing else."""

import math
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.contract import Contract, given, hooks, modes, runs, values
from grader.checks.registered import randomize

OPTIMIZERS = {
    "SGD": partial(torch.optim.SGD, lr=0.1),
    "SGD with momentum": partial(torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": partial(torch.optim.AdamW, lr=0.05, weight_decay=0.1),
}


def network(gen, *before):
    """3 features, 4 hidden units, 2 outputs."""
    model = nn.Sequential(*before, nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    randomize(model, gen)
    return model


def numbers(gen, kind="SGD", count=3, loss_fn=F.mse_loss, model=None, more=()):
    """Steps with batches of five; the optimizer holds the parameters of the model and `more`."""
    model = model or network(gen)
    inputs, targets = ([torch.randn(5, n, generator=gen).double() for _ in range(count)] for n in (3, 2))
    return given(model, loss_fn, OPTIMIZERS[kind]([*model.parameters(), *more]), inputs, targets)


def texts(gen):
    """Two steps on 3 tokens of 6, with 2 classes."""
    model = nn.Sequential(nn.Embedding(6, 4), nn.Flatten(), nn.Linear(12, 2)).double()
    randomize(model, gen)
    tokens, classes = (torch.randint(high, (2, 7, n), generator=gen) for high, n in ((6, 3), (2, 1)))
    optimizer = OPTIMIZERS["SGD"](model.parameters())
    return given(model, F.cross_entropy, optimizer, [*tokens], [*classes.squeeze(-1)])


def once(gen, model=None):
    """One step, where numbers lie in `.grad` already."""
    call = numbers(gen, count=1, model=model)
    for p in call.args[0].parameters():
        p.grad = torch.full_like(p, 10.0)
    return call


class Tempered(nn.Module):
    """A loss with a parameter of its own."""

    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(1.5).double())

    def forward(self, predictions, targets):
        return F.mse_loss(predictions / self.temperature, targets)


def tempered(gen):
    loss_fn = Tempered()
    return numbers(gen, count=2, loss_fn=loss_fn, more=loss_fn.parameters())


def unused(gen):
    """Steps of an optimizer that moved a layer by momentum which the model does not use any more."""
    model = network(gen)
    model.register_parameter("unused", nn.Parameter(torch.ones(2).double()))
    call = numbers(gen, "SGD with momentum", count=2, model=model)
    model.unused.grad = torch.ones(2).double()
    call.args[2].step()
    return call


def written_out(
    model, loss_fn, optimizer, inputs, targets, clear=True, zeros=False, late=False, times=1, tell=None
):
    """The losses of a loop without any helper; or with a mistake."""
    params, losses = [p for group in optimizer.param_groups for p in group["params"]], []
    for x, y in zip(inputs, targets, strict=True):
        for p in params if clear else ():
            p.grad = torch.zeros_like(p) if zeros else None
        loss = loss_fn(model(x), y)
        loss.backward()
        for p in params if late else ():
            p.grad = None
        for _ in range(times):
            optimizer.step()
        losses.append((tell(model, loss_fn, x, y) if tell else loss).item())
    return losses


def wrong(**how):
    return partial(written_out, **how)


contract = Contract(
    "train_step(model, loss_fn, optimizer, inputs, targets)",
    reference=written_out,
    use=lambda answer, model, loss_fn, optimizer, inputs, targets: [
        answer.train_step(model, loss_fn, optimizer, x, y) for x, y in zip(inputs, targets, strict=True)
    ],
    inputs=lambda gen: {
        **{f"three batches, with {kind}": numbers(gen, kind) for kind in OPTIMIZERS},
        "two batches of tokens and class numbers": texts(gen),
    },
    after="model",
    ulps=1e3,
    scale=1.0,
    suspects={
        "the gradients of the batches before count as well: nothing clears them": partial(
            written_out, clear=False
        ),
        "`.grad` is None when the optimizer steps: it is to be filled by then": partial(
            written_out, late=True
        ),
        "what is not used has zeros in `.grad`, not None, and moves": wrong(zeros=True),
        "the optimizer takes two steps in a call": partial(written_out, times=2),
        "this is the loss after the step": partial(
            written_out, tell=lambda model, loss_fn, x, y: loss_fn(model(x), y)
        ),
        "this is the sum over the batch": lambda *call: [
            loss * len(call[-1][0]) for loss in written_out(*call)
        ],
    },
    job=[
        runs(
            inputs=lambda gen: [numbers(gen, count=1)],
            title="Model, loss and optimizer run once each.",
            model=1,
            loss_fn=1,
            optimizer=1,
        )
    ],
    fine=[
        values(
            inputs=lambda gen: {"old numbers in `.grad`": once(gen)},
            name="old_gradients",
            title="Numbers that lie in `.grad` before the first call have no influence.",
        ),
        values(
            inputs=lambda gen: {"a batch": numbers(gen, count=1)},
            after="model.grad",
            name="gradients_stay",
            title="Afterwards `.grad` holds the gradients of this batch.",
        ),
        values(
            inputs=lambda gen: {"a loss with a temperature": tempered(gen)},
            after="loss_fn",
            name="parameters_outside_the_model",
            title="A temperature in loss_fn that the optimizer holds has each batch's gradient alone, too.",
        ),
        values(
            inputs=lambda gen: {"a model with an unused parameter": unused(gen)},
            after="model model.grad",
            name="parameters_without_gradient",
            title="A parameter that the loss does not depend on gets no gradient, and no momentum moves it.",
        ),
        modes(
            inputs=lambda gen: {"a batch": numbers(gen, model=network(gen, nn.BatchNorm1d(3)))},
            title="The model runs in the mode it is in, layer by layer, and keeps it.",
        ),
        hooks(inputs=lambda gen: {"a batch": numbers(gen)}),
        values(
            inputs=lambda gen: {
                "a large loss": numbers(gen, count=1, loss_fn=lambda p, t: 1e3 * F.mse_loss(p, t))
            },
            name="large_losses",
            title="Large gradients are not clipped.",
        ),
        values(
            inputs=lambda gen: {
                "a loss of NaN": numbers(gen, count=1, loss_fn=lambda p, t: p.sum() * math.nan)
            },
            suspects={"the step is left out where the loss is NaN": wrong(times=0)},
            name="nan",
            title="A loss of NaN is returned, and its step is taken.",
        ),
    ],
)
