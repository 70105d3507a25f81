"""What grades predict: rows, batches, dtypes, the device; modes, inference mode, memory, empties."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that, modes_kept, peak_bytes
from grader.checks.contract import Contract, given, modes, own_memory, runs, untouched, values
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


def at_once(model, inputs, batch_size=64):
    """The results for all rows as one batch."""
    with torch.no_grad():
        return model.eval()(inputs)


def wrong(change):
    return lambda model, inputs, batch_size=64: change(at_once(model, inputs), batch_size)


def rows(gen, count, size, model=None):
    return given(model or network(gen).eval(), torch.randn(count, 3, generator=gen), size)


def kinds(gen):
    """Tokens, images and other dtypes."""
    tokens, images = torch.randint(7, (5, 6), generator=gen), torch.randn(3, 2, 4, 5, generator=gen)
    return {
        "tokens, with class numbers out": given(Tagger(gen), tokens, 2),
        "tokens, with scores out": given(Tagger(gen).scores, tokens, 2),
        "float64": given(network(gen).double().eval(), torch.randn(5, 3, generator=gen).double(), 2),
        "images": given(nn.Sequential(nn.Conv2d(2, 3, 3), nn.Flatten(2)), images, 2),
    }


def no_rows(gen):
    return {
        "no rows": given(network(gen), torch.zeros(0, 3), 3),
        "no rows of tokens": given(Tagger(gen), torch.zeros(0, 4, dtype=torch.int64), 3),
    }


def returning(by):
    about = f"of a model that {'returns its input' if by == 1 else 'works in place'}"
    return lambda gen: {f"{about}, {n} rows": rows(gen, n, 8, Returns(by)) for n in (5, 20)}


contract = Contract(
    "predict(model, inputs, batch_size)",
    reference=at_once,
    inputs=lambda gen: {
        "seven rows, in training mode": rows(gen, 7, 3, network(gen)),
        "six rows": rows(gen, 6, 3),
        "four rows, one by one": rows(gen, 4, 1),
        "three rows at once": rows(gen, 3, 64),
        **kinds(gen),
    },
    suspects={
        "the last, shorter batch is left out": wrong(lambda y, size: y[: len(y) - len(y) % size]),
        "only the last batch is returned": wrong(lambda y, size: y[(len(y) - 1) // size * size :]),
        "only the first batch is returned": wrong(lambda y, size: y[:size]),
        "batches are stacked: they are to be joined, cat": wrong(lambda y, size: y.unflatten(0, (-1, size))),
        "results are squeezed": wrong(lambda y, size: y.squeeze()),
    },
    dims="rows outputs",
    ulps=64,
    job=[
        values(
            inputs=lambda gen: {
                f"{count} rows": rows(gen, count, size) for count, size in [(7, 3), (6, 3), (4, 1), (3, 64)]
            },
            title="However the rows are cut into batches, each gets its own result.",
        ),
        values(
            inputs=kinds,
            name="dtypes",
            title="Tokens reach the model as they are, and results keep their dtype and shape.",
        ),
    ],
    fine=[
        modes(inputs=lambda gen: {"five rows": rows(gen, 5, 2)}),
        own_memory(inputs=returning(1.0)),
        untouched(inputs=returning(2.0), title="Inputs stay as they are, even if the model works in place."),
        values(inputs=returning(2.0), name="in_place", title="A model may work in place."),
        values(
            inputs=no_rows,
            after="model",
            name="no_rows",
            title="No rows give an empty result of the right shape and dtype, in evaluation mode.",
        ),
        runs(inputs=no_rows, model=1, name="one_run", title="Without rows the model runs once."),
    ],
)


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
def test_modes_come_back(answer, gen):
    """Each layer has the mode that it had before, also after an error."""
    model = network(gen).train()
    model[0][1].eval()  # a frozen part in a model that trains

    def fail(*_):
        raise Broken

    model.register_forward_hook(fail)
    call = "predict(…) of a model that raises"
    with modes_kept(call, model):
        expect_raises(Broken, lambda: answer.predict(model, torch.randn(5, 3, generator=gen), 2), call)


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
