"""What grades evaluate: weights of batches, modes, what changes; errors, empties, precision, memory."""

import gc
import math
import weakref
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_raises, expect_that, modes_kept
from grader.checks.contract import Contract, errors, given, hooks, modes, values
from grader.checks.registered import randomize

CALL = "evaluate(model, loss_fn, batches)"
CUTS = [(4, 4, 1), (5,), (1, 3, 2, 6), (2, 7), (1, 1, 5)]


def network(gen):
    """3 features, 4 hidden units with batch norm and dropout, 2 outputs."""
    hidden = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(0.5))
    model = nn.Sequential(hidden, nn.Linear(4, 2)).double()
    for layer in (hidden[0], model[1]):
        randomize(layer, gen)
    hidden[1].running_mean.copy_(torch.randn(4, generator=gen))
    return model


def batches_of(gen, *sizes):
    return [tuple(torch.randn(n, width, generator=gen).double() for width in (3, 2)) for n in sizes]


def numbers(gen, *sizes):
    return given(network(gen), F.mse_loss, batches_of(gen, *sizes))


def classes(gen, *sizes):
    batches = [(x, torch.randint(2, (len(x),), generator=gen)) for x, _ in batches_of(gen, *sizes)]
    return given(network(gen), F.cross_entropy, batches)


def trained(gen):
    """A model that has gradients."""
    call = numbers(gen, 3, 2)
    for p in call.args[0].parameters():
        p.grad = torch.full_like(p, 2.0)
    return call


def losses(*found, dtype=torch.float32):
    """A loss_fn that takes the loss from the predictions: one number, of so many examples, for each batch."""
    batches = [(torch.tensor(loss, dtype=dtype), torch.zeros(count)) for loss, count in found]
    return given(nn.Identity(), lambda loss, targets: loss, batches)


class Reader(nn.Module):
    """Takes a dict."""

    def forward(self, inputs):
        return inputs["x"].mean(0)  # (batch,), of (time, batch)


def texts(gen):
    """Batches of one and five examples, of four steps in time."""
    batches = [({"x": torch.randn(4, n, generator=gen)}, torch.zeros(n)) for n in (1, 5)]
    return given(Reader(), F.mse_loss, batches)


def weighed(losses):
    return sum(loss * n for loss, n in losses) / sum(n for _, n in losses)


def written_out(model, loss_fn, batches, mean=weighed):
    """The mean of the batches' losses in evaluation mode; or another one."""
    model.eval()
    return mean([(loss_fn(model(x), y).item(), len(y)) for x, y in batches if len(y)])


def wrong(mean):
    return partial(written_out, mean=mean)


contract = Contract(
    "evaluate(model, loss_fn, batches)",
    reference=written_out,
    inputs=lambda gen: {
        **{f"batches of {sizes}": numbers(gen, *sizes) for sizes in CUTS},
        **{f"class numbers in batches of {sizes}": classes(gen, *sizes) for sizes in CUTS[:3]},
    },
    suspects={
        "a mean of the batches' means: weigh each by the number of its examples": wrong(
            lambda losses: sum(loss for loss, _ in losses) / len(losses)
        ),
        "the batches' means are added up": wrong(lambda losses: sum(loss for loss, _ in losses)),
        "the last batch is left out": wrong(lambda losses: weighed(losses[:-1] or losses)),
        "the sum over all examples is not divided by their number": wrong(
            lambda losses: sum(loss * n for loss, n in losses)
        ),
    },
    job=[
        values(title="However the examples are cut into batches, the loss is that of all of them at once."),
        values(
            inputs=lambda gen: {"a model with gradients": trained(gen)},
            after="model model.grad",
            name="nothing_changes",
            title="Weights, statistics and gradients stay as they are.",
        ),
    ],
    fine=[
        modes(
            inputs=lambda gen: {"two batches": numbers(gen, 3, 2)},
            title="Afterwards each layer has the mode that it had before.",
        ),
        errors(
            ValueError,
            lambda gen: {
                "no batches": given(network(gen), F.mse_loss, []),
                "an empty batch": numbers(gen, 0),
            },
            name="no_examples",
            title="Without examples there is a ValueError.",
        ),
        values(
            inputs=lambda gen: {"batches of 3, 0 and 2": numbers(gen, 3, 0, 2)},
            name="empty_batches",
            title="A batch without examples counts for nothing, though its loss is NaN.",
        ),
        values(
            inputs=lambda gen: {"a loss of NaN": losses((1.0, 2), (math.nan, 1), (2.0, 3))},
            suspects={
                "the NaN of one batch is hidden": wrong(
                    lambda losses: weighed([(loss, n) for loss, n in losses if not math.isnan(loss)])
                )
            },
            name="nan",
            title="A loss of NaN is not hidden.",
        ),
        values(
            inputs=lambda gen: {
                f"a large loss and many small ones in {dtype}": losses(
                    (large, 2), *[(1.0, 1)] * 60, dtype=dtype
                )
                for dtype, large in {torch.float32: 2.0**26, torch.float16: 60000.0}.items()
            },
            ulps=1e-5,
            name="double_precision",
            title="Nothing is lost in a long sum, and float16 does not overflow.",
        ),
        values(
            inputs=lambda gen: {"dicts with the time first": texts(gen)},
            name="other_inputs",
            title="Inputs may be a dict with the time first: the targets are counted.",
        ),
        hooks(),
    ],
)


def test_evaluation_mode(answer, gen):
    """Each layer runs in evaluation mode, and neither model nor loss_fn records a graph."""
    model, modes, recorded = network(gen).train(), {}, {}

    def loss_fn(predictions, targets):
        recorded.setdefault("loss_fn", torch.is_grad_enabled())
        return F.mse_loss(predictions, targets)

    def look(m, args, out, name):
        modes[name] = m.training
        recorded[name] = torch.is_grad_enabled()

    for name, m in model.named_modules():
        kind = f"layer {name} ({type(m).__name__})" if name else "the model"
        m.register_forward_hook(lambda m, args, out, kind=kind: look(m, args, out, kind))
    answer.evaluate(model, loss_fn, batches_of(gen, 3, 2))
    for name, training in modes.items():
        expect_that(not training, f"{name} runs in training mode in {CALL}")
    for name, graph in recorded.items():
        expect_that(not graph, f"{name} records a graph in {CALL}", likely="`torch.no_grad()` is missing")


class Broken(Exception):
    """What goes wrong in the middle."""


@pytest.mark.fine
@pytest.mark.parametrize("where", ["model", "loss_fn", "batches"])
def test_errors(answer, gen, where):
    """An error in the middle comes through, and the modes are as before."""
    model, two = network(gen).train(), batches_of(gen, 3, 2)

    def fails(place):
        if place == where:
            raise Broken(f"out of memory in {place}")

    def loader():
        yield two[0]
        fails("batches")
        yield two[1]

    model[1].register_forward_hook(lambda *_: fails("model"))
    loss_fn = lambda p, t: fails("loss_fn") or F.mse_loss(p, t)  # noqa: E731
    with modes_kept(f"an error in {where}", model):
        call = f"evaluate(…) with an error in {where}"
        expect_raises(Broken, lambda: answer.evaluate(model, loss_fn, loader()), call)


@pytest.mark.fine
def test_large_data(answer):
    """batches may be a generator, and no batch is kept that is done, nor what was predicted for it."""
    inputs_seen, predictions_seen, alive = [], [], []

    def loader():
        for index in range(5):
            gc.collect()
            before = [*inputs_seen[:-1], *predictions_seen[:-1]]
            alive.append(sum(ref() is not None for ref in before))
            inputs = torch.full((2, 2), float(index))
            inputs_seen.append(weakref.ref(inputs))
            yield inputs, torch.zeros(2, 1)
            del inputs

    def loss_fn(predictions, targets):
        predictions_seen.append(weakref.ref(predictions))
        return F.mse_loss(predictions, targets)

    answer.evaluate(nn.Linear(2, 1), loss_fn, loader())
    expect_equal(len(alive), 5, "the number of batches that are asked for")
    what = "inputs or predictions of batches that are done are still held when the next is asked for"
    expect_that(max(alive) == 0, what, yours=f"{max(alive)}, besides those of the batch before")
