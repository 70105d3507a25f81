"""What grades evaluate: weights of batches, precision, modes layer by layer, errors, memory, the device."""

import gc
import math
import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import (
    expect_equal,
    expect_raises,
    expect_that,
    global_rng_untouched,
    modes_kept,
    unchanged,
)
from grader.checks.devices import count_traffic

CALL = "evaluate(model, loss_fn, batches)"


def network(gen):
    """3 features, 4 hidden units with batch norm and dropout, 2 outputs."""
    hidden = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(0.5))
    model = nn.Sequential(hidden, nn.Linear(4, 2)).double()
    with torch.no_grad():
        for w in model.parameters():
            w.copy_(torch.randn(w.shape, generator=gen))
        model[0][1].running_mean.copy_(torch.randn(4, generator=gen))
    return model


def batches_of(gen, *sizes):
    return [
        (torch.randn(n, 3, generator=gen).double(), torch.randn(n, 2, generator=gen).double()) for n in sizes
    ]


def at_once(model, batches):
    """The loss over all examples as one batch, in evaluation mode."""
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    with torch.no_grad():
        inputs, targets = (torch.cat(parts) for parts in zip(*batches, strict=True))
        loss = F.mse_loss(model(inputs), targets).item()
    for m, mode in modes:
        m.training = mode
    return loss


def expect_loss(yours, wanted, call, rel_tol=1e-9):
    expect_equal(type(yours).__name__, "float", f"the type of {call}")
    close = yours == wanted or math.isclose(yours, wanted, rel_tol=rel_tol)
    expect_that(
        close or (math.isnan(yours) and math.isnan(wanted)),
        f"wrong loss from {call}",
        yours=f"{yours:.12g}",
        wanted=f"{wanted:.12g}",
    )


def of(values):
    """Batches, and a loss_fn that takes the loss from the predictions: one number for each batch."""
    return [(value, torch.zeros(count)) for value, count in values], lambda loss, targets: loss


@pytest.mark.parametrize("sizes", [(4, 4, 1), (5,), (1, 3, 2, 6), (2, 2)], ids=str)
def test_every_example_counts_the_same(answer, gen, sizes):
    """However the examples are cut into batches, the loss is that of all of them at once."""
    model, batches = network(gen), batches_of(gen, *sizes)
    wanted = at_once(model, batches)
    expect_loss(answer.evaluate(model, F.mse_loss, batches), wanted, f"evaluate(…) of batches of {sizes}")
    rows = [(x, y[:, :1] if i % 2 else y) for i, (x, y) in enumerate(batches)]  # labels of other widths
    square = lambda out, y: (out[:, : y.shape[1]] - y).square().mean()  # noqa: E731
    model.eval()
    losses = [square(model(x).detach(), y).item() * len(y) for x, y in rows]
    model.train()
    wide = answer.evaluate(model, square, rows)
    expect_loss(wide, math.fsum(losses) / sum(sizes), f"evaluate(…) of {sizes} rows of one or two labels")
    none = [(torch.full((n, 1), n / 2), torch.zeros(n, i % 2)) for i, n in enumerate(sizes)]
    wanted = sum(n * n / 2 for n in sizes) / sum(sizes)
    loss = answer.evaluate(nn.Identity(), lambda out, _: out.mean(), none)
    expect_loss(loss, wanted, f"evaluate(…) of {sizes} rows of one or no label")
    more = [*batches, *batches_of(gen, 3)]
    wanted = at_once(model, more)
    expect_loss(answer.evaluate(model, F.mse_loss, more), wanted, "evaluate(…) of the same and three more")


def test_empty_batches(answer, gen):
    """A batch without examples counts for nothing, though its loss is NaN; without any there is an error."""
    model, batches = network(gen), batches_of(gen, 0, 3, 0, 2, 0)
    wanted = at_once(model, batches)
    expect_loss(
        answer.evaluate(model, F.mse_loss, batches), wanted, "evaluate(…) with empty batches in between"
    )
    for name, none in {
        "no batches": [],
        "an empty batch": batches[:1],
        "an empty generator": iter(()),
    }.items():
        model.train()
        model[0][1].eval()
        call = f"evaluate(…) of {name}"
        with modes_kept(call, model):
            expect_raises(ValueError, lambda none=none: answer.evaluate(model, F.mse_loss, none), call)


def test_nan_and_inf(answer):
    """A loss of NaN or inf is not hidden."""
    for bad in (math.nan, math.inf, -math.inf):
        batches, loss_fn = of([(torch.tensor(1.0), 2), (torch.tensor(bad), 1), (torch.tensor(2.0), 3)])
        runs = []
        counted = lambda out, targets, runs=runs, loss_fn=loss_fn: (runs.append(1), loss_fn(out, targets))[1]  # noqa: E731
        loss = answer.evaluate(nn.Identity(), counted, batches)
        expect_loss(loss, bad, f"evaluate(…) where the loss of one batch is {bad}")
        expect_equal(len(runs), 3, f"the runs of loss_fn on three batches, one with a loss of {bad}")


def test_double_precision(answer):
    """Nothing is lost in a long sum, and no narrow dtype rounds the weight of a batch."""
    many = [(torch.tensor(2.0**26), 1)] + [(torch.tensor(1.0), 1)] * 60
    fine = [(torch.tensor(1 / 3, dtype=torch.float64), 3), (torch.tensor(1e-9, dtype=torch.float64), 2)]
    narrow = [
        (torch.tensor(1.0078125, dtype=torch.bfloat16), 257),
        (torch.tensor(3.0, dtype=torch.bfloat16), 2),
    ]
    half = [(torch.tensor(60000.0, dtype=torch.float16), 7), (torch.tensor(1.0, dtype=torch.float16), 1)]
    cases = {
        "many small losses after a large one": many,
        "float32, all of them 0": [(torch.tensor(0.0), 2)] * 2,
        "float64": fine,
        "bfloat16": narrow,
        "float16": half,
    }
    for name, values in cases.items():
        batches, loss_fn = of(values)
        wanted = math.fsum(float(v) * n for v, n in values) / sum(n for _, n in values)
        expect_loss(
            answer.evaluate(nn.Identity(), loss_fn, batches),
            wanted,
            f"evaluate(…) with losses in {name}",
            1e-12,
        )


@pytest.mark.parametrize("mode", ["train", "eval", "mixed", "inner"])
def test_modes(answer, gen, mode):
    """Each layer runs in evaluation mode and records no graph; then it has the mode that it had before."""
    model, batches = network(gen), batches_of(gen, 3, 2)
    model.train(mode == "train")
    if mode == "mixed":  # frozen batch norm in a model that trains, dropout that is on
        model.train()
        model[0][1].eval()
        model[0].training = False
        model[1].eval()
        model.append(nn.Sequential(model[0][3]))  # another way to the dropout, in another mode
        model[2].training = False
    if mode == "inner":  # a dropout that is on in a model that does not train
        model[0][3].train()
    seen = []

    def loss_fn(predictions, targets):
        seen.append(("loss_fn", False, torch.is_grad_enabled()))
        return F.mse_loss(predictions, targets)

    for name, m in model.named_modules():
        m.register_forward_hook(
            lambda m, *_, name=name or "the model": seen.append((name, m.training, torch.is_grad_enabled()))
        )
    with modes_kept(CALL, model):
        answer.evaluate(model, loss_fn, batches)
    for name, training, recorded in seen:
        expect_equal(training, False, f"the training flag of layer {name} in {CALL}")
        expect_equal(recorded, False, f"whether a graph is recorded in {name}")
    expect_equal(sum(name == "the model" for name, *_ in seen), 2, "the runs of the model on two batches")
    expect_equal(sum(name == "loss_fn" for name, *_ in seen), 2, "the runs of loss_fn on two batches")


class Broken(Exception):
    """What goes wrong in the middle."""


class Loader:
    """What a generator function gives, each time anew."""

    def __init__(self, begin):
        self.begin = begin

    def __iter__(self):
        return self.begin()


@pytest.mark.parametrize("where", ["model", "loss_fn", "batches", "iter(batches)"])
def test_errors(answer, gen, where):
    """An error in the middle comes through, and modes and recording are as before."""
    model, two = network(gen), batches_of(gen, 3, 2)
    model.train()
    model[0][1].eval()
    runs = []

    def fails(place):
        if place == where:
            runs.append(1)
            if len(runs) == 2 or place == "iter(batches)":
                raise error(f"out of memory in {place}")

    def loss_fn(predictions, targets):
        fails("loss_fn")
        return F.mse_loss(predictions, targets)

    def loader():
        for batch in two:
            fails("batches")
            yield batch

    def begin():
        fails("iter(batches)")
        return loader()

    model[1].register_forward_hook(lambda *_: fails("model"))
    for enabled, error in ((True, Broken), (False, Broken), (True, KeyboardInterrupt)):
        runs.clear()
        when = f"an error ({error.__name__}) in {where}"
        with torch.set_grad_enabled(enabled), modes_kept(when, model):
            call = f"evaluate(…) with an error in {where}"
            expect_raises(error, lambda: answer.evaluate(model, loss_fn, Loader(begin)), call)


def test_nothing_changes(answer, gen):
    """Weights, statistics, gradients and the batches stay as they are, and recording goes on or stays off."""
    model, batches = network(gen), batches_of(gen, 3, 2)
    for p in model.parameters():
        p.grad = torch.full_like(p, 2.0)
    model[1].bias.requires_grad_(False)
    state = {name: t.clone() for name, t in model.state_dict().items()}
    required = [p.requires_grad for p in model.parameters()]
    loss_fn = nn.MSELoss()
    for enabled in (True, False):
        loss_fn.train(enabled)
        with (
            torch.set_grad_enabled(enabled),
            unchanged(CALL, inputs=batches[0][0], targets=batches[0][1]),
            global_rng_untouched(CALL),
            modes_kept(CALL),
        ):
            answer.evaluate(model, loss_fn, batches)
        expect_equal(loss_fn.training, enabled, f"the training flag of loss_fn, a module, after {CALL}")
    for name, was in state.items():
        expect_equal(model.state_dict()[name], was, f"{name} after {CALL}")
    expect_equal([p.requires_grad for p in model.parameters()], required, "requires_grad of the parameters")
    for name, p in model.named_parameters():
        expect_that(p.grad is not None, f"the gradient of {name} is gone after {CALL}")
        expect_equal(p.grad, torch.full_like(p, 2.0), f"the gradient of {name} after {CALL}")


class Reader(nn.Module):
    """Takes a dict of tokens, longest dimension first."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(6, 2)
        self.seen = []

    def forward(self, inputs):
        self.seen.append(inputs)
        tokens = inputs["tokens"] if isinstance(inputs, dict) else inputs[0]
        return self.embedding(tokens).mean(0)  # (batch, 2)


def test_passed_on_as_they_are(answer):
    """Inputs may be a dict or a pair, with the time first: passed on as they are; the targets are counted."""
    model, given = Reader(), []
    nn.init.ones_(model.embedding.weight)
    runs = []
    model.register_forward_hook(lambda *_: runs.append(1))
    first = ({"tokens": torch.ones(5, 3, dtype=torch.int64)}, torch.tensor([[1], [1], [4]]))
    batches = [first, ((torch.zeros(7, 1, dtype=torch.int64), "a pair"), torch.tensor([[1]]))]

    def loss_fn(predictions, targets):
        given.append((predictions.shape, targets))
        return (predictions - targets).square().mean()

    loss = answer.evaluate(model, loss_fn, batches)
    expect_loss(loss, 9 / 4, "evaluate(…) of dicts of tokens, (time, batch)")
    expect_equal(len(runs), 2, "the number of times that the model's hook runs in evaluate(…)")
    expect_equal(len(model.seen), 2, "the number of batches that reach the model itself, not a copy of it")
    for index, (inputs, targets) in enumerate(batches):
        expect_that(
            model.seen[index] is inputs, f"the model is not given the inputs of batch {index} as they are"
        )
        expect_equal(given[index][1], targets, f"the targets that loss_fn is given for batch {index}")
    for inputs, targets in [
        (torch.arange(4, dtype=torch.uint8), torch.ones(4, 1, dtype=torch.bool)),
        (torch.ones(3, 1).half(), torch.tensor([2, 0, 1], dtype=torch.int32)),
    ]:
        given.clear()
        take = lambda *args: (given.append(args), torch.tensor(1.0))[1]  # noqa: E731
        answer.evaluate(nn.Identity(), take, [(inputs, targets)])
        call = (
            f"loss_fn is given of inputs in {inputs.dtype}, by Identity(), and of targets in {targets.dtype}"
        )
        expect_equal(given, [(inputs, targets)], f"what {call}")


def count_alive(refs):
    alive = sum(ref() is not None for ref in refs)
    if alive > 0:
        gc.collect()  # what only hangs in a reference cycle is not kept
        alive = sum(ref() is not None for ref in refs)
    return alive


def test_large_data(answer):
    """batches may be a generator, and no more than one batch that is done is held."""
    inputs_seen, targets_seen, predictions_seen, held = [], [], [], []

    def loader():
        for index in range(5):
            before = [seen[:-1] for seen in (inputs_seen, targets_seen, predictions_seen)]
            held.append(max(map(count_alive, before)))
            batch = torch.full((2, 2), float(index)), torch.zeros(2, 1)
            inputs_seen.append(weakref.ref(batch[0]))
            targets_seen.append(weakref.ref(batch[1]))
            yield batch
            del batch

    def loss_fn(predictions, targets):
        predictions_seen.append(weakref.ref(predictions.untyped_storage()))
        return predictions[0, 0]  # their mean, as the rows are equal, and a view of them

    answer.evaluate(nn.Linear(2, 1), loss_fn, loader())
    expect_equal(len(held), 5, "the number of batches that are asked for")
    expect_that(
        max(held) == 0,
        "batches that are done, or their predictions, are still held when the next is asked for",
        yours=f"{max(held)} batches, besides the one before",
        wanted="at most the one before",
    )


def test_no_cache(answer, gen):
    """A model that has learned since has another loss."""
    model, batches = network(gen), batches_of(gen, 3, 2)
    answer.evaluate(model, F.mse_loss, batches)
    with torch.no_grad():
        model[1].bias.add_(1.0)
    wanted = at_once(model, batches)
    expect_loss(
        answer.evaluate(model, F.mse_loss, batches), wanted, "evaluate(…) after an update of the model"
    )


def test_on_a_device(answer, gen, device):
    """On another device the loss is the same, and the host waits at most once for each batch."""
    model, batches = network(gen), batches_of(gen, 4, 4, 1)
    wanted = at_once(model, batches)
    model.to(device)
    there = [(inputs.to(device), targets.to(device)) for inputs, targets in batches]
    with count_traffic() as traffic:
        loss = answer.evaluate(model, F.mse_loss, there)
    expect_loss(loss, wanted, "evaluate(…) on another device")
    expect_that(
        traffic.to_device == 0,
        "evaluate(…) copies from the host to the device",
        yours=f"{traffic.to_device} copies, besides those of the caller",
        wanted="none",
    )
    expect_that(
        traffic.syncs <= 3,
        "the host waits for the device more than once for each batch",
        yours=f"{traffic.syncs} waits for 3 batches",
    )


def oracle(answer, gen):
    model = network(gen)
    model[0][1].eval()
    losses = [
        answer.evaluate(model, F.mse_loss, iter(batches_of(gen, *sizes))) for sizes in [(4, 4, 1), (0, 2, 3)]
    ]
    batches, loss_fn = of([(torch.rand((), generator=gen).double(), n) for n in (3, 1, 5)])
    losses.append(answer.evaluate(nn.Identity(), loss_fn, batches))
    return [losses, [m.training for m in model.modules()], dict(model.state_dict())]
