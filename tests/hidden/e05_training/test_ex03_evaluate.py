"""What grades evaluate: weights of batches, modes, what changes; errors, empties, precision, memory."""

import gc
import math
import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_number, expect_raises, expect_that, modes_kept
from grader.checks.registered import randomize, state_of

CALL = "evaluate(model, loss_fn, batches)"


def network(gen):
    """3 features, 4 hidden units with batch norm and dropout, 2 outputs."""
    hidden = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(0.5))
    model = nn.Sequential(hidden, nn.Linear(4, 2)).double()
    for layer in (hidden[0], model[1]):
        randomize(layer, gen)
    hidden[1].running_mean.copy_(torch.randn(4, generator=gen))
    return model


def batches_of(gen, *sizes, classes=False):
    def labels(n):
        return torch.randint(2, (n,), generator=gen) if classes else torch.randn(n, 2, generator=gen).double()

    return [(torch.randn(n, 3, generator=gen).double(), labels(n)) for n in sizes]


def losses_of(model, loss_fn, batches):
    """The mean of each batch in evaluation mode, and its size."""
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    with torch.no_grad():
        found = [(loss_fn(model(x), y).item(), len(y)) for x, y in batches]
    for m, mode in modes:
        m.training = mode
    return found


def weighed(losses):
    return sum(loss * n for loss, n in losses) / sum(n for _, n in losses)


def expect_loss(answer, model, loss_fn, batches, what):
    losses = losses_of(model, loss_fn, batches)
    means = [loss for loss, _ in losses]
    suspects = {
        "a mean of the batches' means: weigh each by the number of its examples": lambda: (
            sum(means) / len(means)
        ),
        "the batches' means are added up": lambda: sum(means),
        "the last batch is left out": lambda: weighed(losses[:-1]),
        "the sum over all examples is not divided by their number": lambda: sum(x * n for x, n in losses),
    }
    yours = answer.evaluate(model, loss_fn, batches)
    expect_number(yours, weighed(losses), f"evaluate(…) of {what}", suspects=suspects)


@pytest.mark.parametrize("sizes", [(4, 4, 1), (5,), (1, 3, 2, 6)], ids=str)
def test_every_example_counts_the_same(answer, gen, sizes):
    """However the examples are cut into batches, the loss is that of all of them at once."""
    expect_loss(answer, network(gen), F.mse_loss, batches_of(gen, *sizes), f"batches of {sizes}")


def test_class_numbers(answer, gen):
    """It works for class numbers and cross-entropy as well."""
    batches = batches_of(gen, 5, 5, 2, classes=True)
    expect_loss(answer, network(gen), F.cross_entropy, batches, "a classifier")


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
        expect_that(not graph, f"{name} records a graph in {CALL}")


def test_nothing_changes(answer, gen):
    """Weights, statistics and gradients stay as they are."""
    model = network(gen)
    for p in model.parameters():
        p.grad = torch.full_like(p, 2.0)
    before = state_of(model)
    answer.evaluate(model, F.mse_loss, batches_of(gen, 3, 2))
    for name, now in state_of(model).items():
        expect_equal(now, before[name], f"{name} after {CALL}")
    for name, p in model.named_parameters():
        expect_that(p.grad is not None, f"the gradient of {name} is gone after {CALL}")
        expect_equal(p.grad, torch.full_like(p, 2.0), f"the gradient of {name} after {CALL}")


@pytest.mark.fine
@pytest.mark.parametrize("mode", ["train", "eval", "mixed"])
def test_modes_come_back(answer, gen, mode):
    """Afterwards each layer has the mode that it had before."""
    model = network(gen).train(mode != "eval")
    model[0][1].train(mode == "train")  # a frozen batch norm in a model that trains
    with modes_kept(CALL, model):
        answer.evaluate(model, F.mse_loss, batches_of(gen, 3, 2))


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
def test_no_examples(answer, gen):
    """Without examples there is a ValueError."""
    for name, none in {"no batches": [], "an empty batch": batches_of(gen, 0)}.items():
        run = lambda none=none: answer.evaluate(network(gen), F.mse_loss, none)  # noqa: E731
        expect_raises(ValueError, run, f"evaluate(…) of {name}")


@pytest.mark.fine
def test_empty_batches(answer, gen):
    """A batch without examples counts for nothing, though its loss is NaN."""
    model, (empty, *batches) = network(gen), batches_of(gen, 0, 3, 2)
    wanted = weighed(losses_of(model, F.mse_loss, batches))
    yours = answer.evaluate(model, F.mse_loss, [batches[0], empty, batches[1]])
    expect_number(yours, wanted, "evaluate(…) with an empty batch in between")


def given(losses):
    """Batches, and a loss_fn that takes the loss from the predictions: one number for each batch."""
    return [(loss, torch.zeros(count)) for loss, count in losses], lambda loss, targets: loss


@pytest.mark.fine
def test_nan(answer):
    """A loss of NaN is not hidden."""
    batches, loss_fn = given([(torch.tensor(1.0), 2), (torch.tensor(math.nan), 1), (torch.tensor(2.0), 3)])
    loss = answer.evaluate(nn.Identity(), loss_fn, batches)
    expect_that(math.isnan(loss), "evaluate(…) hides a NaN in one batch", yours=loss, wanted="nan")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_double_precision(answer, dtype):
    """Nothing is lost in a long sum, and float16 does not overflow."""
    large = 2.0**26 if dtype == torch.float32 else 60000.0
    losses = [(torch.tensor(large, dtype=dtype), 2)] + [(torch.tensor(1.0, dtype=dtype), 1)] * 60
    batches, loss_fn = given(losses)
    wanted = weighed([(float(loss), n) for loss, n in losses])
    yours = answer.evaluate(nn.Identity(), loss_fn, batches)
    what = f"evaluate(…) with a large loss and many small ones in {dtype}"
    expect_number(yours, wanted, what, rtol=1e-12)


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


class Reader(nn.Module):
    """Takes a dict."""

    def forward(self, inputs):
        return inputs["x"].mean(0)  # (batch,), of (time, batch)


@pytest.mark.fine
def test_other_inputs(answer, gen):
    """Inputs may be a dict with the time first: the targets are counted."""
    batches = [({"x": torch.randn(4, n, generator=gen)}, torch.zeros(n)) for n in (1, 5)]
    expect_loss(answer, Reader(), F.mse_loss, batches, "dicts")


@pytest.mark.fine
def test_hooks(answer, gen):
    """The model's own hooks run."""
    model, seen = network(gen), []
    model.register_forward_hook(lambda *_: seen.append(1))
    answer.evaluate(model, F.mse_loss, batches_of(gen, 3))
    expect_that(bool(seen), "a hook on the model does not run: call model(…), not model.forward(…)")


def oracle(answer, gen):
    def of(sizes, loss_fn=F.mse_loss, classes=False):
        tasks = [(network(gen), batches_of(gen, *sizes, classes=classes)) for _ in range(4)]
        return lambda: [answer.evaluate(model, loss_fn, batches) for model, batches in tasks]

    return {
        "a short last batch": of((4, 4, 1)),
        "batches of all sizes": of((1, 3, 2, 6)),
        "a classifier": of((5, 5, 2), F.cross_entropy, classes=True),
    }
