"""What grades predict: rows, batches, dtypes, the device; modes, inference mode, memory, empties."""

import copy

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_copy,
    expect_equal,
    expect_raises,
    expect_that,
    modes_kept,
    peak_bytes,
    unchanged,
)
from grader.checks.devices import count_traffic
from grader.checks.registered import randomize

CALL = "predict(model, inputs, batch_size)"


def network(gen):
    """3 features, 4 hidden units with batch norm and dropout, 2 outputs."""
    hidden = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(0.5))
    model = nn.Sequential(hidden, nn.Linear(4, 2))
    randomize(model, gen)
    return model


class Tagger(nn.Module):
    """Token ids in, the number of the best of five tags for each token out: (batch, time) of int64."""

    def __init__(self, gen):
        super().__init__()
        self.scores = nn.Embedding(7, 5)
        randomize(self, gen)

    def forward(self, tokens):
        return self.scores(tokens).argmax(2)


class LastStep(nn.Module):
    """Keeps the last of many time steps: its result is a view of all of them."""

    def __init__(self):
        super().__init__()
        self.steps = nn.Parameter(torch.arange(1.0, 201.0)[:, None])

    def forward(self, x):
        return (x[:, None, :] * self.steps)[:, -1]


class Returns(nn.Module):
    """Returns its input, which it multiplies in place."""

    def __init__(self, by):
        super().__init__()
        self.by = nn.Parameter(torch.tensor(by))

    def forward(self, x):
        return x if self.by == 1 else x.mul_(self.by.detach())


def at_once(model, inputs, training=False):
    """The results for all rows as one batch; or with the mistake of training mode."""
    with torch.no_grad():
        return copy.deepcopy(model).train(training)(inputs)


def expect_rows(answer, model, inputs, size):
    wanted, rows = at_once(model, inputs), len(inputs)
    call = f"predict(model, inputs, {size}) of {rows} rows"
    suspects = {
        "the last, shorter batch is left out": lambda: wanted[: rows - rows % size],
        "only the last batch is returned": lambda: wanted[(rows - 1) // size * size :],
        "only the first batch is returned": lambda: wanted[:size],
        "batches are stacked: they are to be joined, cat": lambda: wanted.view(-1, size, *wanted.shape[1:]),
        "results are squeezed": wanted.squeeze,
    }
    yours = answer.predict(model, inputs, size)
    expect_close(yours, wanted, call, dims="rows outputs", suspects=suspects, ulps=64)


@pytest.mark.parametrize(("rows", "size"), [(7, 3), (6, 3), (4, 1), (3, 64)], ids=str)
def test_every_row(answer, gen, rows, size):
    """However the rows are cut into batches, each gets its own result."""
    expect_rows(answer, network(gen).eval(), torch.randn(rows, 3, generator=gen), size)


def test_batches(answer, gen):
    """The model is called on batch_size rows at a time, 64 without another word, in order."""
    for rows, size, options in ((7, 3, {"batch_size": 3}), (130, 64, {})):
        model, seen, inputs = network(gen), [], torch.randn(rows, 3, generator=gen)
        model[0][0].register_forward_pre_hook(lambda _, args, seen=seen: seen.append(args[0].clone()))
        answer.predict(model, inputs, **options)
        sizes = [min(size, rows - start) for start in range(0, rows, size)]
        expect_equal([len(x) for x in seen], sizes, f"the rows in each batch, of {rows} in batches of {size}")
        expect_close(torch.cat(seen), inputs, "the rows that the model is given", dims="rows features")


def test_evaluation_mode(answer, gen):
    """A model in training mode runs in evaluation mode, layer by layer, and records no graph."""
    model, seen = network(gen).train(), {}
    model[0].eval()
    for name, layer in model.named_modules():
        layer.register_forward_hook(
            lambda m, _, out, name=name: seen.update({name: (m.training, out.requires_grad)})
        )
    yours = answer.predict(model, torch.randn(5, 3, generator=gen), 2)
    for name, (training, recorded) in seen.items():
        expect_that(not training, f"layer {name!r} runs in training mode", likely="model.eval() is missing")
        expect_that(not recorded, f"a graph is recorded in layer {name!r}: it keeps all batches in memory")
    expect_that(not yours.requires_grad, f"the result of {CALL} requires a gradient")


def test_dtypes(answer, gen):
    """Tokens reach the model as they are, and results keep their dtype and shape."""
    tokens = torch.randint(7, (5, 6), generator=gen)
    expect_rows(answer, Tagger(gen), tokens, 2)
    expect_rows(answer, Tagger(gen).scores, tokens, 2)  # to float32
    expect_rows(answer, network(gen).double().eval(), torch.randn(5, 3, generator=gen).double(), 2)
    images = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Flatten(2))
    expect_rows(answer, images, torch.randn(3, 2, 4, 5, generator=gen), 2)


def test_on_a_device(answer, gen, device):
    """A model on another device gets its batches there, and the result is on the CPU."""
    model, inputs = network(gen).eval(), torch.randn(7, 3, generator=gen)
    wanted = at_once(model, inputs)
    yours = answer.predict(model.to(device), inputs, 3)
    expect_that(yours.device.type == "cpu", "the result stays on the device: it belongs on the CPU")
    expect_close(yours, wanted, "predict(model on a device, inputs, 3)", dims="rows outputs", ulps=64)


class Broken(Exception):
    """What goes wrong in the middle."""


@pytest.mark.fine
@pytest.mark.parametrize("error", [None, Broken], ids=["no error", "error"])
def test_modes_come_back(answer, gen, error):
    """Each layer has the mode that it had before, also after an error."""
    for mode in ("train", "eval", "mixed"):
        model = network(gen).train(mode != "eval")
        if mode == "mixed":  # a frozen part in a model that trains
            model[0][1].eval()
        call = f"predict(…) of a model in mode {mode!r}" + (" that raises" if error else "")

        def fail(*_):
            if error:
                raise error

        model.register_forward_hook(fail)
        predict = lambda model=model: answer.predict(model, torch.randn(5, 3, generator=gen), 2)  # noqa: E731
        with modes_kept(call, model):
            expect_raises(error, predict, call) if error else predict()


@pytest.mark.fine
def test_inference_mode(answer, gen):
    """The model runs in inference mode; the result is an ordinary tensor, of one batch and of many."""
    model, inputs, seen = network(gen), torch.randn(5, 3, generator=gen), []
    model.register_forward_hook(lambda *_: seen.append(torch.is_inference_mode_enabled()))
    for size in (2, 8):
        yours = answer.predict(model, inputs, size)
        expect_that(not yours.is_inference(), f"the result of {CALL} is a tensor made in inference mode")
    expect_that(all(seen) and bool(seen), "the model does not run in torch.inference_mode()")


@pytest.mark.fine
def test_own_memory(answer, gen):
    """The result shares no memory with inputs, and these stay as they are."""
    inputs = torch.randn(5, 3, generator=gen)
    for size in (2, 8):
        same = answer.predict(Returns(1.0), inputs, size)
        expect_copy(same, inputs, f"predict(…, {size}) of a model that returns its input")
        call = f"predict(…, {size}) of a model that works in place"
        with unchanged(call, inputs=inputs):
            yours = answer.predict(Returns(2.0), inputs, size)
        expect_close(yours, 2 * inputs, call)


@pytest.mark.fine
def test_only_rows_are_held(answer):
    """Of a batch that is done, only its rows of the result are held: not all that they are a view of."""
    for rows, size in ((40, 4), (10, 1)):  # of a single row, the last step is contiguous
        inputs = torch.ones(rows, 3)
        one = size * 200 * 3 * 4  # bytes of all steps of one batch
        used = peak_bytes(lambda inputs=inputs, size=size: answer.predict(LastStep(), inputs, size))
        yours = f"{used:,} bytes at once for ten batches of {size} that need {one:,} bytes each"
        likely = "the rows are a view of it: copy them (contiguous() may not)"
        what = "all that was computed for earlier batches is held until the end"
        expect_that(used < 4 * one, what, yours=yours, likely=likely)


@pytest.mark.fine
def test_traffic(answer, gen, device):
    """Each batch is copied to the device once, and its results back, when it is its turn."""
    model, on_the_way, call = network(gen).to(device), [], "predict(model on a device, inputs, 3)"
    with count_traffic() as traffic:
        model.register_forward_pre_hook(lambda *_: on_the_way.append((traffic.to_device, traffic.to_host)))
        answer.predict(model, torch.randn(7, 3, generator=gen), 3)
    expect_equal(traffic.to_device, 3, f"the copies to the device in {call}, for three batches")
    expect_equal(traffic.to_host, 3, f"the copies back to the host in {call}, for three batches")
    what = f"the copies to the device and back in {call} before each batch runs"
    expect_equal(on_the_way, [(1, 0), (2, 1), (3, 2)], what)


@pytest.mark.fine
def test_no_rows(answer, gen):
    """No rows give an empty result of the right shape and dtype, by one call of the model."""
    for model, inputs in (
        (network(gen), torch.zeros(0, 3)),
        (Tagger(gen), torch.zeros(0, 4, dtype=torch.int64)),
    ):
        runs, wanted = [], at_once(model, inputs)
        model.register_forward_hook(lambda m, args, _, runs=runs: runs.append((m.training, len(args[0]))))
        expect_equal(
            answer.predict(model, inputs, 3), wanted, "predict(…, 3) of no rows", dims="rows outputs"
        )
        expect_equal(runs, [(False, 0)], "the model's training flag and the rows in each call, for no rows")


def oracle(answer, gen):
    def of(make, inputs, size):
        return lambda gen: answer.predict(make(gen), inputs(gen), size)

    def frozen(gen):
        model = network(gen)
        model[0].eval()
        return model

    def plain(gen):
        model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
        randomize(model, gen)
        return model

    return {
        "seven rows in batches of three": of(
            lambda gen: network(gen).train(), lambda gen: torch.randn(7, 3, generator=gen), 3
        ),
        "a model without dropout or batch norm": of(plain, lambda gen: torch.randn(8, 3, generator=gen), 3),
        "four rows at once": of(frozen, lambda gen: torch.randn(4, 3, generator=gen), 9),
        "tokens": of(Tagger, lambda gen: torch.randint(7, (7, 6), generator=gen), 2),
        "float64": of(
            lambda gen: plain(gen).double(), lambda gen: torch.randn(6, 3, generator=gen).double(), 2
        ),
    }
