"""What grades first_nan: NaN and inf anywhere, the first of two, hooks; between modules, nested data."""

import math

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_raises, expect_that, hooks_of, modes_kept

CALL = "first_nan(model, inputs)"
INF, NAN = math.inf, math.nan


class Fn(nn.Module):
    """Computes whatever it is given."""

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *args, **kwargs):
        return self.fn(*args, **kwargs)


def spoiled(x, bad):
    """A copy with one bad number."""
    x = x.clone()
    x.view(-1)[-1] = bad
    return x


def spoils(bad):
    return Fn(lambda x: spoiled(x, bad))


def layers(*parts):
    """A stack with a linear layer before and after."""
    return nn.Sequential(nn.Linear(3, 3), *parts, nn.Linear(3, 2))


class Joined(nn.Module):
    """Two parts, and code of the model's own: between them, and at the end."""

    def __init__(self, between=lambda x: x, end=lambda x: x):
        super().__init__()
        self.first, self.last = nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        self.between, self.end = between, end

    def forward(self, x):
        return self.end(self.last(self.between(self.first(x))))


def expect_found(answer, gen, model, wanted, case, mistakes=None):
    """`mistakes` tells what goes wrong where another name, or None, comes back."""
    yours = answer.first_nan(model, torch.randn(4, 3, generator=gen))
    told = {
        None: "nothing was found",
        "": "the model returns last: its parts come before it",
        **(mistakes or {}),
    }
    suspects = {mistake: lambda name=name: name for name, mistake in told.items()}
    expect_equal(yours, wanted, f"{CALL} with {case}", suspects=suspects)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_anywhere(answer, gen, bad):
    """The module that makes NaN or inf is named, wherever it is."""
    one, only = layers(nn.Tanh(), spoils(bad), nn.Identity()), "only NaN is looked for: inf counts, too"
    expect_found(answer, gen, one, "2", f"{bad} in one layer", {} if bad != bad else {None: only})
    deep = nn.Sequential(layers(), nn.Linear(2, 3), nn.Sequential(nn.Tanh(), spoils(bad)), nn.Tanh())
    expect_found(
        answer, gen, deep, "2.1", f"{bad} deep within", {"2": "this is the module around the culprit"}
    )
    running = layers(nn.BatchNorm1d(3)).eval()
    running[1].running_mean[0] = bad
    expect_found(answer, gen, running, "1", f"a running mean of {bad}")


def test_first_of_two(answer, gen):
    """Of two modules that make NaN or inf, the one that returns first is named."""
    two = layers(spoils(INF), nn.Tanh(), spoils(NAN))
    expect_found(
        answer,
        gen,
        two,
        "1",
        "inf in 1, made finite in 2, and NaN in 3",
        {"3": "only NaN is looked for: inf counts, too"},
    )

    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.first = spoils(NAN), spoils(NAN)

        def forward(self, x):
            return self.last(self.first(x).nan_to_num())

    told = "it is defined first, but runs last: the order of the calls counts"
    expect_found(
        answer, gen, Backwards(), "first", "modules that are defined in another order", {"last": told}
    )


def test_own_code(answer, gen):
    """A module with parts is named where its own code makes NaN behind them."""
    only = "only modules without parts are looked at: those with parts have code of their own"
    end = lambda x: (x - 10).log()  # noqa: E731
    expect_found(
        answer, gen, Joined(end=end), "", "NaN from the model's own code, behind its parts", {None: only}
    )
    outer = nn.Sequential(nn.Linear(3, 3), Joined(end=end), nn.Tanh())
    expect_found(answer, gen, outer, "1", "NaN from a part's own code, behind its parts", {"2": only})


def test_tuples(answer, gen):
    """The outputs of an LSTM, a tuple, are looked into."""
    model = nn.Sequential(nn.Linear(3, 3), nn.LSTM(3, 2), Fn(lambda found: found[0]))
    model[1].bias_ih_l0.data[0] = NAN
    expect_found(answer, gen, model, "1", "an LSTM that returns NaN", {"2": "tuples are not looked into"})


def test_no_hook_is_left(answer, gen):
    """Afterwards no hook is left, also of a model that raises; the error reaches the caller."""
    error = ValueError("two in the morning")

    def fail(x):
        raise error

    for part, case in ((spoils(NAN), "NaN"), (Fn(fail), "an error")):
        model, caught = layers(part), None
        own = model[0].register_forward_hook(lambda *_: None)
        before = [hooks_of(m) for m in model.modules()]
        try:
            answer.first_nan(model, torch.ones(4, 3))
        except ValueError as raised:
            caught = raised
        expect_that(
            caught is (error if case == "an error" else None), f"{CALL} lost or changed the model's error"
        )
        expect_that(
            [hooks_of(m) for m in model.modules()] == before,
            f"the model's hooks are not as before, after {CALL} with {case}",
            likely="`remove()` each handle, in `finally`",
        )
        own.remove()


@pytest.mark.fine
def test_between_modules(answer, gen):
    """Whoever was given NaN is not to blame: code between modules belongs to the module around them."""
    between = lambda x: (x - 10).log()  # noqa: E731
    told = {"last.0": "this module was given NaN: it is not to blame"}
    expect_found(answer, gen, Joined(between), "", "NaN made between two modules", told)
    outer = nn.Sequential(nn.Linear(3, 3), Joined(between), nn.Tanh())
    told = {"1.last.0": "this module was given NaN: it is not to blame"}
    expect_found(answer, gen, outer, "1", "NaN made between the parts of a part", told)


@pytest.mark.fine
def test_bad_inputs(answer, gen):
    """Inputs that hold NaN or inf raise ValueError."""
    for bad in (NAN, INF):
        inputs = spoiled(torch.randn(4, 3, generator=gen), bad)
        expect_raises(
            ValueError, lambda x=inputs: answer.first_nan(layers(), x), f"{CALL} with {bad} in inputs"
        )


class Nested(nn.Module):
    """Its parts hand dicts and keyword arguments to each other."""

    def __init__(self, give=lambda x: {"a": [x], "b": None}, between=lambda batch: batch):
        super().__init__()
        self.stem, self.give = nn.Linear(3, 3), Fn(give)
        self.take, self.between = Fn(lambda batch, scale: batch["a"][0] * scale), between

    def forward(self, x):
        return self.take(batch=self.between(self.give(self.stem(x))), scale=2.0)


@pytest.mark.fine
def test_nested_data(answer, gen):
    """Dicts, lists and keyword arguments are looked into."""
    bad = lambda x: {"a": [spoiled(x, NAN)], "b": None}  # noqa: E731
    expect_found(answer, gen, Nested(bad), "give", "NaN in a dict", {"take": "dicts are not looked into"})
    between = lambda batch: {"a": [spoiled(batch["a"][0], INF)]}  # noqa: E731
    told = "a module that was given inf, as a keyword argument, is not to blame"
    expect_found(
        answer, gen, Nested(between=between), "", "inf put into a dict between modules", {"take": told}
    )


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_large_numbers(answer, gen, dtype):
    """Large numbers that are finite are no culprits."""
    large = Fn(lambda x: torch.full_like(x, 0.9 * torch.finfo(dtype).max, dtype=dtype))
    model = nn.Sequential(large, Fn(lambda x: x.float() * 1e-38), nn.Linear(3, 2))
    expect_found(answer, gen, model, None, f"numbers near the largest of {dtype}", {"0": "a sum overflows"})


@pytest.mark.fine
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_one_run(answer, gen, training):
    """The model runs once, in its mode, and keeps it."""
    runs = []
    model = layers(nn.BatchNorm1d(3)).train(training)
    model[1].register_forward_hook(lambda module, *_: runs.append(module.training))
    with modes_kept(CALL, model):
        answer.first_nan(model, torch.randn(4, 3, generator=gen))
    expect_equal(runs, [training], f"the modes in which a batch norm runs in {CALL}")


def blocks(gen, *culprits):
    """Four blocks of two layers, with each culprit in a place of its own behind one of them."""
    parts = [[nn.Linear(3, 3), nn.Tanh()] for _ in range(4)]
    places = torch.randperm(8, generator=gen)[: len(culprits)].sort(descending=True).values.tolist()
    for place, culprit in zip(places, culprits, strict=True):
        parts[place // 2].insert(place % 2 + 1, culprit)
    return nn.Sequential(*[nn.Sequential(*block) for block in parts])


def oracle(answer, gen):
    def names(*culprits):
        models = [blocks(gen, *culprits) for _ in range(8)]
        x = torch.randn(4, 3, generator=gen)
        return lambda: [answer.first_nan(model, x) for model in models]

    healthy, x = blocks(gen), torch.randn(4, 3, generator=gen)
    return {
        "one layer returns NaN": names(spoils(NAN)),
        "one layer returns inf": names(spoils(INF)),
        "two layers return inf or NaN, and the next makes it finite": names(
            Fn(lambda x: spoiled(x, INF)), Fn(lambda x: spoiled(x, NAN))
        ),
        "no layer is to blame": lambda: [answer.first_nan(healthy, x), *names(spoils(-INF))()],
    }
