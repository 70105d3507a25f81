"""What grades mlp_logits: sizes, raw logits in both modes, and what people do with a model."""

import functools
import math
from itertools import pairwise

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, unchanged
from grader.checks.cost.precision import default_dtype
from grader.checks.module_contract import (
    Case,
    expect_casts,
    expect_copies,
    expect_functional,
    expect_loads,
    expect_moves,
    expect_trains,
    in_evaluation,
)
from grader.checks.registered import expect_registered, randomize, state_of

SIZES = [(7, (6, 5), 4), (4, (), 1), (5, (), 12), (3, (5,), 2), (6, (4, 4, 4, 4, 4), 4), (2, (1,), 1)]


def logits_of(state, x):
    """ReLU between the layers that the state names, in order."""
    for index in range(0, 2 * len(state), 2):
        if index:
            x = x.relu()
        x = x @ state[f"layers.{index}.weight"].T + state[f"layers.{index}.bias"]
        if f"layers.{index + 2}.weight" not in state:
            return x
    return x


def case(answer, gen, sizes=(5, 6), hidden=(5, 4)):
    call = f"Classifier(6, {hidden}, 3)"
    x = torch.randn(sizes, generator=gen)
    return Case(lambda: answer.Classifier(6, hidden, 3), [x], logits_of, call)


def parameters_of(features, hidden, classes):
    sizes = enumerate(pairwise([features, *hidden, classes]))
    wanted = {}
    for index, (inputs, outputs) in sizes:
        wanted |= {f"layers.{2 * index}.weight": (outputs, inputs), f"layers.{2 * index}.bias": (outputs,)}
    return wanted


@pytest.mark.parametrize("sizes", [*SIZES, (3, (2,) * 33, 2)], ids=str)
def test_layers(answer, sizes):
    """The sizes are those asked for: linear layers with ReLU in between, and nothing after the last one."""
    features, hidden, classes = sizes
    call = f"Classifier({features}, {hidden}, {classes})"
    for given in (hidden, list(hidden), torch.Size(hidden)):
        model = answer.Classifier(features, given, classes)
        expect_equal(list(given), list(hidden), f"hidden, after {call}")
        expect_registered(model, call, parameters=parameters_of(*sizes))
        expect_that(
            isinstance(model.layers, nn.Sequential), "model.layers is no nn.Sequential", yours=model.layers
        )
        kinds = [nn.Linear, nn.ReLU] * len(hidden) + [nn.Linear]
        fits = len(kinds) == len(model.layers) and all(map(isinstance, model.layers, kinds))
        expect_that(
            fits,
            f"wrong layers in {call}",
            yours=", ".join(type(layer).__name__ for layer in model.layers),
            wanted=", ".join(kind.__name__ for kind in kinds),
        )
        expect_equal(len(set(model.layers)), len(kinds), f"the number of different objects in {call}.layers")
        in_place = [layer for layer in model.layers if getattr(layer, "inplace", False)]
        expect_that(not in_place, f"a layer in {call}.layers works in place", yours=in_place[:1])
    answer.Classifier(3, range(5, 2, -1), 2).get_submodule("layers.6")
    named = answer.Classifier(classes=classes, features=features)
    parameters = parameters_of(features, (30, 20), classes)
    expect_registered(named, f"Classifier(features={features}, classes={classes})", parameters=parameters)


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_raw_logits(answer, gen, mode):
    """Logits are the last layer's numbers as they are, large or small, in training and in evaluation."""
    for features, hidden, classes in SIZES:
        model = answer.Classifier(features, hidden, classes)
        randomize(model, gen)
        model.train(mode == "train")
        state = state_of(model)
        for leading, size in [
            ((), 10),
            ((5,), 10),
            ((5,), 1e8),
            ((1,), 10),
            ((2, 3), 10),
            ((4, 1), 10),
            ((1, 3), 10),
            ((0,), 10),
            ((2, 0, 3), 10),
        ]:
            x = size * torch.randn(*leading, features, generator=gen)
            wanted = logits_of(state, x)
            with unchanged("model(x)", x=x):
                y = model(x)
            call = f"Classifier({features}, {hidden}, {classes})(x) in {mode} mode"
            scale = float(wanted.abs().max()) + 5 * size if wanted.numel() else 1.0
            suspects = {
                "log_softmax is taken at the end": functools.partial(wanted.log_softmax, -1),
                "a ReLU follows the last layer, too": wanted.relu,
            }
            expect_close(y.detach(), wanted, call, scale=scale, suspects=suspects)
            expect_that(y.requires_grad, f"no gradient flows through {call}, x of shape {tuple(x.shape)}")
            missing = model(torch.full((*leading, features), math.nan)).detach()
            expect_that(bool(missing.isnan().all()), f"{call} hides that x is NaN", yours=missing)
            with torch.no_grad(), unchanged("model(x) under no_grad", x=x):
                y = model(x)
            expect_close(y, wanted, f"{call} under no_grad", scale=scale)


def test_start(answer):
    """Every linear layer starts as nn.Linear starts by itself, and no two models are the same."""
    model, other = answer.Classifier(60, (80, 80, 80), 90), answer.Classifier(60, (80, 80, 80), 90)
    theirs = state_of(other)
    for name, values in state_of(model).items():
        layer = model.get_submodule(name.rpartition(".")[0])
        bound = 1 / math.sqrt(layer.in_features)
        largest, spread = float(values.abs().max()), float(values.std())
        expect_that(
            largest <= bound and 0.4 * bound < spread < 0.75 * bound,
            f"{name} does not start like that of an nn.Linear",
            yours=f"numbers up to {largest:.4f}, standard deviation {spread:.4f}",
            wanted=f"uniform up to {bound:.4f}, standard deviation {bound / math.sqrt(3):.4f}",
        )
        expect_that(not torch.equal(values, theirs[name]), f"{name} is the same in two models")
    first, second = model.layers[2].weight, model.layers[4].weight
    expect_that(not torch.equal(first, second), "two layers of equal sizes start with the same numbers")
    with default_dtype(torch.float64):
        kinds = {p.dtype for p in answer.Classifier(3, hidden=(2,), classes=2).parameters()}
    expect_equal(kinds, {torch.float64}, "the dtypes of a model that is built while the default is float64")


def test_layers_can_be_exchanged(answer, gen):
    """Forward runs what model.layers holds: a new head, fewer layers, more layers, and hooks."""
    model, x = answer.Classifier(6, (5, 4), 3), torch.randn(2, 6, generator=gen)
    model.layers[-1] = nn.Linear(4, 7)
    wanted = logits_of(state_of(model), x)
    expect_close(model(x).detach(), wanted, "model(x) with another last layer")
    model.layers[1] = nn.Sigmoid()
    first, *rest = model.layers
    wanted = x @ first.weight.T + first.bias
    for layer in rest:
        wanted = layer(wanted)
    expect_close(model(x).detach(), wanted.detach(), "model(x) with nn.Sigmoid() for the first ReLU")
    seen = []
    for layer in model.layers:
        layer.register_forward_hook(lambda layer, *_: seen.append(type(layer).__name__))
    model(x)
    expect_equal(seen, ["Linear", "Sigmoid", "Linear", "ReLU", "Linear"], "the hooks that ran in model(x)")
    model.layers = model.layers[:2]
    wanted = torch.sigmoid(x @ first.weight.T + first.bias)
    expect_close(model(x).detach(), wanted.detach(), "model(x) with the first two layers only")
    rest = answer.Classifier(6, (5, 4), 3)
    rest.layers = rest.layers[1:]  # begins with a ReLU
    h = torch.randn(2, 5, generator=gen)
    for track in (True, False):
        with torch.set_grad_enabled(track), unchanged("model(x) without the first layer", x=h):
            rest(h)
    longer = answer.Classifier(6, (5,), 3)
    wanted = logits_of(state_of(longer), x).tanh()
    longer.layers.append(nn.Tanh())
    longer.layers.append(nn.Linear(3, 2))
    last = longer.layers[-1]
    wanted = (wanted @ last.weight.T + last.bias).detach()
    expect_close(longer(x).detach(), wanted, "model(x) after nn.Tanh() and nn.Linear(3, 2) were appended")
    twice, act = answer.Classifier(6, (6,), 3), nn.Tanh()
    twice.layers = nn.Sequential(act, twice.layers[0], act, twice.layers[2])
    wanted = nn.functional.linear(x.tanh(), *twice.layers[1].parameters()).tanh()
    wanted = nn.functional.linear(wanted, *twice.layers[3].parameters()).detach()
    expect_close(twice(x).detach(), wanted, "model(x) with one nn.Tanh() in two places")


def test_values_and_gradients(answer, gen):
    """Gradients are right for x and every parameter, in both modes."""
    expect_functional(case(answer, gen), gen)
    expect_functional(case(answer, gen, sizes=(2, 3, 6), hidden=()), gen)
    expect_functional(case(answer, gen, sizes=(6,)), gen)
    expect_functional(in_evaluation(case(answer, gen)), gen)


def test_training(answer, gen):
    """Gradient descent moves every layer as it should."""
    expect_trains(case(answer, gen), gen, lr=0.01)


def test_loads_and_copies(answer, gen):
    """A saved model loads, and a deep copy is a model of its own."""
    expect_loads(case(answer, gen), gen)
    expect_copies(case(answer, gen), gen)


def test_moves_and_casts(answer, device, gen):
    """A model moves to another device and to another dtype as a whole, and works there."""
    expect_moves(case(answer, gen), device, gen)
    expect_casts(case(answer, gen), torch.float64, gen)
    expect_casts(case(answer, gen), torch.float16, gen, ulps=16.0)
    expect_casts(in_evaluation(case(answer, gen)), torch.bfloat16, gen, ulps=16.0)


def oracle(answer, gen):
    results = []
    for sizes in SIZES:
        model = answer.Classifier(*sizes).double()
        with torch.no_grad():
            for _, p in sorted(model.named_parameters()):
                p.copy_(torch.randn(p.shape, generator=gen, dtype=torch.float64))
        x = torch.randn(4, sizes[0], generator=gen, dtype=torch.float64, requires_grad=True)
        for mode in (True, False):
            y = model.train(mode)(x)
            results.append(y.detach())
        y.backward(torch.randn(y.shape, generator=gen, dtype=torch.float64))
        results += [x.grad, {name: p.grad for name, p in sorted(model.named_parameters())}]
    return results
