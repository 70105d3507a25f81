"""What grades predict: rows and batches, inference mode, modes layer by layer, memory, the device."""

import copy
import weakref

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

CALL = "predict(model, inputs, batch_size)"


def network(gen):
    """3 features, 4 hidden units with batch norm and dropout, 2 outputs."""
    hidden = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(0.5))
    model = nn.Sequential(hidden, nn.Linear(4, 2))
    with torch.no_grad():
        for w in model.parameters():
            w.copy_(torch.randn(w.shape, generator=gen))
        model[0][1].running_mean.copy_(torch.randn(4, generator=gen))
    return model


def at_once(model, inputs):
    """The results for all rows as one batch, in evaluation mode and float64."""
    twin = copy.deepcopy(model).double().eval()
    with torch.no_grad():
        return twin(inputs.double()).to(next(model.parameters()).dtype)


class Tagger(nn.Module):
    """Token ids in, the number of the best of five tags for each token out: (batch, time) of int64."""

    def __init__(self):
        super().__init__()
        self.scores = nn.Embedding(7, 5)

    def forward(self, tokens):
        return self.scores(tokens).argmax(2)


class Best(nn.Module):
    """The number of the largest feature of each row: float in, int64 out."""

    def forward(self, x):
        return x.argmax(1)


class LastStep(nn.Module):
    """Keeps the last of many time steps: its result is a view of all of them."""

    def forward(self, x):
        steps = x[:, None, :] * torch.arange(1.0, 201.0)[:, None]  # (batch, 200, features)
        return steps[:, -1]


class Doubles(nn.Module):
    """Writes its result over its input."""

    def forward(self, x):
        return x.mul_(2)


class Shift(nn.Module):
    """No parameters, only a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("by", torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x):
        return x + self.by


@pytest.mark.parametrize(
    ("rows", "size"), [(7, 3), (6, 3), (4, 1), (5, 5), (3, 64), (1, 2), (1, 1), (9, 4), (130, 100)], ids=str
)
def test_every_row_once(answer, gen, rows, size):
    """However the rows are cut into batches, each gets its own result, and batches are of the size asked."""
    model, inputs = network(gen), torch.randn(rows, 3, generator=gen)
    wanted, seen = at_once(model, inputs), []
    itself = []
    model.register_forward_hook(lambda m, *_: itself.append(m is model))
    model.register_forward_hook(lambda _model, args, _result: seen.append(args[0].clone()))
    yours = answer.predict(model, inputs, size)
    expect_that(all(itself), "a copy of the model runs, not the model itself")
    expect_close(yours, wanted, f"predict(model, inputs, {size}) of {rows} rows", dims="rows outputs")
    sizes = [min(size, rows - start) for start in range(0, rows, size)]
    expect_equal([len(x) for x in seen], sizes, "the rows in each call of the model (counted by a hook)")
    expect_close(torch.cat(seen), inputs, "the rows that the model is given", dims="rows features")


def test_default_batches_of_64(answer):
    """Without batch_size, batches have 64 rows."""
    model, seen = nn.Identity(), []
    model.register_forward_hook(lambda _model, args, _result: seen.append(len(args[0])))
    answer.predict(model, torch.zeros(130, 1))
    expect_equal(seen, [64, 64, 2], "the rows in each call of the model for 130 rows")


def test_shapes_and_dtypes(answer, gen):
    """Rows and results may have any shape and dtype, in strided or expanded memory."""
    tagger = Tagger()
    tokens = torch.randint(7, (6, 5), generator=gen).T  # (5, 6)
    with torch.no_grad():
        wanted = tagger(tokens.clone())
    expect_equal(answer.predict(tagger, tokens, 2), wanted, "predict(tagger, tokens, 2)", dims="rows time")
    model = network(gen).double()
    row = torch.randn(3, generator=gen).double()
    wanted = at_once(model, row.repeat(5, 1))
    expect_close(answer.predict(model, row.expand(5, 3), 2), wanted, "predict(…) in float64")
    image = torch.randn(3, 2, 4, 5, generator=gen).to(torch.bfloat16)
    yours = answer.predict(nn.AvgPool2d((4, 5)), image, 2)
    expect_close(yours, nn.AvgPool2d((4, 5))(image), "predict(…) of images in bfloat16")
    table = nn.Embedding(7, 2).double()
    wanted = table.weight.detach()[tokens]
    expect_close(answer.predict(table, tokens, 2), wanted, "predict(…) of a model from int64 to float64")
    yours = answer.predict(Best(), image.float().flatten(1), 2)
    expect_equal(yours, image.float().flatten(1).argmax(1), "predict(…) of a model from float32 to int64")
    scalar = answer.predict(nn.Flatten(0), torch.arange(3.0), 2)  # one number for each row
    expect_close(scalar, torch.arange(3.0), "predict(…) of a model that gives one number for each row")
    for dtype in (torch.uint8, torch.int32, torch.bool):
        call = f"predict(…) of a model that gives back its rows in {dtype}"
        expect_equal(answer.predict(nn.Identity(), tokens.to(dtype), 2), tokens.to(dtype), call)


def test_no_rows(answer, gen):
    """No rows give an empty result of the right shape and dtype, by one call of the model."""
    runs = []
    for model, inputs in (
        (network(gen), torch.zeros(0, 3)),
        (Tagger(), torch.zeros(0, 4, dtype=torch.int64)),
    ):
        with torch.no_grad():
            wanted = copy.deepcopy(model).eval()(inputs)
        model.register_forward_hook(
            lambda m, args, _: runs.append((m.training, torch.is_inference_mode_enabled(), len(args[0])))
        )
        for size in (3, 1):
            runs.clear()
            yours = answer.predict(model, inputs, size)
            expect_equal(yours, wanted, f"predict(…, {size}) of no rows", dims="rows outputs")
            expect_equal(len(runs), 1, f"the calls of the model for no rows in batches of {size}")
            expect_equal(runs[0][2], 0, "the rows in the call of the model for no rows")
            expect_equal(runs[0][0], False, "the training flag of the model in the call for no rows")
            expect_equal(runs[0][1], True, "torch.is_inference_mode_enabled() in the call for no rows")
            expect_that(not yours.is_inference(), "the result for no rows is a tensor made in inference mode")


@pytest.mark.parametrize("size", [0, -1, -64])
def test_impossible_batches(answer, gen, size):
    """A batch size below 1 is a ValueError, also where there are no rows, and the model does not run."""
    model, runs = network(gen).train(), []
    model.register_forward_hook(lambda *_: runs.append(1))
    for rows in (3, 0):
        call = f"predict(…, batch_size={size}) of {rows} rows"
        with modes_kept(call, model):
            expect_raises(ValueError, lambda n=rows: answer.predict(model, torch.zeros(n, 3), size), call)
    expect_equal(runs, [], "the calls of the model before the error")


@pytest.mark.parametrize("mode", ["train", "eval", "mixed", "inner"])
def test_modes(answer, gen, mode):
    """Each layer runs in evaluation and in inference mode; then it has the mode that it had before."""
    model, inputs = network(gen), torch.randn(5, 3, generator=gen)
    model.train(mode == "train")
    if mode == "mixed":  # frozen batch norm in a model that trains, dropout that is on
        model.train()
        model[0][1].eval()
        model[0].training = False
        model[1].eval()
    if mode == "inner":  # a dropout that is on in a model that does not train
        model[0][3].train()
    seen, layers = [], len(list(model.modules()))
    for name, layer in model.named_modules():
        layer.register_forward_hook(
            lambda m, *_, n=name or "the model": seen.append(
                (n, m.training, torch.is_inference_mode_enabled())
            )
        )
    with modes_kept(CALL, model):
        answer.predict(model, inputs, 2)
    expect_equal(len(seen), 3 * layers, "the number of layers that run, in three batches")
    for name, training, inference in seen:
        expect_equal(training, False, f"the training flag of {name} in {CALL}")
        expect_equal(inference, True, f"torch.is_inference_mode_enabled() in {name}")


def test_a_layer_in_two_places(answer, gen):
    """A layer that the model uses twice has the mode that it had before, too."""
    shared = nn.Dropout(0.5)
    model = nn.Sequential(nn.Sequential(shared), nn.Sequential(nn.Identity(), shared)).train()
    shared.eval()
    with modes_kept("predict(…) of a model with a shared layer", model):
        answer.predict(model, torch.randn(5, 3, generator=gen), 2)


class Broken(Exception):
    """What goes wrong in the middle."""


@pytest.mark.parametrize("at", [1, 2])
def test_errors(answer, gen, at):
    """An error from the model comes through, and modes and recording are as before."""
    model, inputs, runs, within = network(gen), torch.randn(5, 3, generator=gen), [], []
    model.train()
    model[0][1].eval()

    def fail(*_):
        runs.append(1)
        if len(runs) == at:
            raise Broken("out of memory") if at == 1 else KeyboardInterrupt

    model[1].register_forward_hook(fail)
    call = f"predict(…) with {'an error' if at == 1 else 'a KeyboardInterrupt'} in batch {at}"

    def run():
        try:
            answer.predict(model, inputs, 2)
        except (Broken, KeyboardInterrupt):  # here the error still holds all that predict has made
            within.append(torch.is_inference_mode_enabled())
            raise

    with modes_kept(call, model):
        expect_raises(Broken if at == 1 else KeyboardInterrupt, run, call)
        expect_that(within == [False], f"inference mode is on where the caller handles the error of {call}")
        expect_that(not torch.is_inference_mode_enabled(), f"inference mode is on after {call}")


@pytest.mark.parametrize("rows", [5, 2])
def test_ordinary_result(answer, gen, rows):
    """The result can be changed in place and be a target in training, in one batch or in many."""
    model, inputs = network(gen), torch.randn(rows, 3, generator=gen)
    yours = answer.predict(model, inputs, 2)
    expect_that(not yours.requires_grad, f"the result of {CALL} requires a gradient")
    expect_that(not yours.is_inference(), f"the result of {CALL} is a tensor made in inference mode")
    weight = torch.ones(2, requires_grad=True)
    (weight * yours).sum().backward()
    expect_close(weight.grad, yours.sum(0), "the gradient of a weight that multiplies the result")
    yours += 1
    for size in (1, 2, 8):
        same = answer.predict(nn.Identity(), inputs, size)
        expect_copy(same, inputs, f"predict(…, batch_size={size}) of a model that returns its input")
        expect_that(
            not same.is_inference(), "the result of a model that returns its input is one of inference mode"
        )


def test_nothing_changes(answer, gen):
    """Weights, statistics, gradients, requires_grad and the inputs stay as they are; recording goes on."""
    model, inputs = network(gen), torch.randn(5, 3, generator=gen).requires_grad_()
    for p in model.parameters():
        p.grad = torch.full_like(p, 2.0)
    model[1].bias.requires_grad_(False)
    state = {name: t.clone() for name, t in model.state_dict().items()}
    required = [p.requires_grad for p in model.parameters()]
    for enabled in (True, False):
        with torch.set_grad_enabled(enabled), unchanged(CALL, inputs=inputs), modes_kept(CALL):
            yours = answer.predict(model, inputs, 2)
        expect_that(not yours.requires_grad, "the result requires a gradient where the inputs do")
    for name, was in state.items():
        expect_equal(model.state_dict()[name], was, f"{name} after {CALL}")
    expect_equal([p.requires_grad for p in model.parameters()], required, "requires_grad of the parameters")
    for name, p in model.named_parameters():
        expect_that(p.grad is not None, f"the gradient of {name} is gone after {CALL}")
        expect_equal(p.grad, torch.full_like(p, 2.0), f"the gradient of {name} after {CALL}")
    draws = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        answer.predict(model, inputs, 2)
        draws.append(torch.rand(()).item())
    expect_that(draws[0] != draws[1], f"{CALL} seeds the global random stream")
    with torch.no_grad():
        model[1].weight.add_(1.0)
    inputs = inputs.detach()
    expect_close(
        answer.predict(model, inputs, 2),
        at_once(model, inputs),
        "predict(…) of a model that has learned since",
    )


@pytest.mark.parametrize("first", [nn.ReLU(inplace=True), nn.Dropout(0.5, inplace=True), Doubles()], ids=str)
def test_models_in_place(answer, gen, first):
    """The inputs stay as they are, also where the model works in place."""
    inputs = torch.randn(5, 3, generator=gen)
    with torch.no_grad():
        wanted = copy.deepcopy(first).eval()(inputs.clone())
    for size in (2, 5, 64):
        call = f"predict(model, inputs, {size}) of 5 rows and a model that works in place"
        with unchanged(call, inputs=inputs):
            yours = answer.predict(first.train(), inputs, size)
        expect_close(yours, wanted, call)


def test_only_rows_are_held(answer):
    """Of a batch that is done, only its rows of the result are held: not all that they are a view of."""
    model = LastStep()
    for rows, size in ((40, 4), (10, 1)):  # of a single row, the last step is contiguous
        inputs = torch.ones(rows, 3)
        call = f"predict(model, inputs, {size}) of a model that keeps the last step"
        expect_close(answer.predict(model, inputs, size), inputs * 200, call)
        one = size * 200 * 3 * 4  # bytes of all steps of one batch
        used = peak_bytes(lambda inputs=inputs, size=size: answer.predict(model, inputs, size))
        yours = f"{used:,} bytes at once for ten batches of {size} that need {one:,} bytes each"
        expect_that(
            used < 4 * one,
            "all that was computed for earlier batches is held until the end",
            yours=yours,
            likely="the rows are a view of it: copy them (contiguous() may not)",
        )
        expect_that(
            used < 1.75 * one,
            "what was computed for a batch is held while the model runs on the next one",
            yours=yours,
            likely="a name in the loop stands for the last result until it gets the next: del it",
        )
    inputs = torch.ones(64, 4000).t()
    used = peak_bytes(lambda: answer.predict(nn.AvgPool1d(64), inputs, 40))
    expect_that(
        used < inputs.nbytes / 4,
        "all of the inputs are copied at once, not batch by batch",
        yours=f"{used:,} bytes at once beside the inputs, which are {inputs.nbytes:,}",
    )


def test_on_a_device(answer, gen, device):
    """A model on a device gets one batch at a time there, and the result is on the CPU."""
    inputs = torch.randn(7, 3, generator=gen)
    model = network(gen)
    wanted = at_once(model, inputs)
    for there, right in ((model, wanted), (Shift(), inputs + torch.tensor([1.0, 2.0, 3.0]))):
        there.to(device)
        if there is model:  # where its parameters are is what counts
            model.register_buffer("threshold", torch.ones(1))
        name = f"predict({type(there).__name__} on a device, inputs, 3)"
        given, held = [], []

        def look(_model, args, given=given, held=held):
            held.append(sum(batch() is not None for batch in given))
            given.append(weakref.ref(args[0]))

        there.register_forward_pre_hook(look)
        with count_traffic() as traffic:
            yours = answer.predict(there, inputs, 3)
        expect_close(yours, right, name, dims="rows outputs")
        expect_that(not yours.is_inference(), f"the result of {name} is a tensor made in inference mode")
        expect_equal(traffic.to_device, 3, f"the copies to the device in {name}, for three batches")
        expect_equal(held, [0, 0, 0], f"the earlier or other batches held as the model runs in {name}")
        expect_equal(traffic.to_host, 3, f"the copies back to the host in {name}, for three batches")


class Halves(nn.Module):
    """Its first layer is on a device, its last one on the CPU."""

    def __init__(self, device):
        super().__init__()
        self.first, self.last = nn.Linear(3, 4).to(device), nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.first(x).cpu())


def test_on_two_devices(answer, gen, device):
    """A model with layers on several devices gets its batches where its first parameter is."""
    model, inputs = Halves(device), torch.randn(5, 3, generator=gen)
    wanted = model(inputs.to(device)).detach()
    name = "predict(model, inputs, 2) of a model whose first layer is on a device, the last on the CPU,"
    expect_close(answer.predict(model, inputs, 2), wanted, name, dims="rows outputs")


def oracle(answer, gen):
    found = []
    for rows, size in ((7, 3), (5, 5), (1, 4), (0, 2)):
        model, inputs = network(gen), torch.randn(rows, 3, generator=gen)
        model[0][1].eval()
        yours = answer.predict(model, inputs, size)
        flags = [layer.training for layer in model.modules()]
        found.append((yours, flags, yours.is_inference(), yours.requires_grad))
    return found
