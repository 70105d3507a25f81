"""What grades mlp_logits: sizes, raw logits in both modes, gradients, a start; the container, moves."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.contract import Contract, device, dtypes, layer, loads
from grader.checks.registered import randomize

SIZES = [(7, (6, 5), 4), (4, (), 3), (3, (5,), 2), (6, (4, 4, 4, 4), 4)]


def linears(model):
    return [m for m in model.modules() if isinstance(m, nn.Linear)]


def logits_of(layers, x, between=torch.relu):
    """ReLU between the layers, by their weights and biases."""
    for index, (weight, bias) in enumerate(layers):
        x = (between(x) if index else x) @ weight.T + bias
    return x


def weights(model):
    return [(m.weight, m.bias) for m in linears(model)]


def expect_logits(answer, gen, sizes, leading, mode="train"):
    model = answer.Classifier(*sizes).train(mode == "train")
    randomize(model, gen)
    x = 10 * torch.randn(*leading, sizes[0], generator=gen)
    wanted = logits_of(weights(model), x).detach()
    suspects = {
        "log_softmax is taken at the end": lambda: wanted.log_softmax(-1),
        "softmax is taken at the end": lambda: wanted.softmax(-1),
        "a ReLU follows the last layer, too": wanted.relu,
        "no ReLU stands between the layers": lambda: logits_of(weights(model), x, lambda x: x).detach(),
    }
    call = f"Classifier{sizes}(x) in {mode} mode, x of shape {tuple(x.shape)}"
    expect_close(model(x).detach(), wanted, call, scale=float(wanted.abs().max()) + 50, suspects=suspects)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_layers(answer, sizes):
    """Linear layers, each with a bias, lead from the features through the hidden sizes to the classes."""
    features, hidden, classes = sizes
    given = list(hidden)
    model = answer.Classifier(features, given, classes)
    row, call = [features, *hidden, classes], f"Classifier{sizes}"
    yours = [(m.in_features, m.out_features) for m in linears(model)]
    expect_equal(yours, list(pairwise(row)), f"the sizes of the linear layers of {call}")
    count = sum((a + 1) * b for a, b in pairwise(row))
    expect_equal(sum(p.numel() for p in model.parameters()), count, f"the number of parameters of {call}")


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_raw_logits(answer, gen, mode):
    """Logits are the last layer's numbers as they are, with ReLU in between, in both modes."""
    for sizes in SIZES:
        expect_logits(answer, gen, sizes, (5,), mode)


def test_gradients(answer, gen):
    """Gradients reach x and every parameter."""
    model = answer.Classifier(6, (5, 4), 3)
    x, upstream = torch.randn(8, 6, generator=gen, requires_grad=True), torch.randn(8, 3, generator=gen)
    wanted = torch.autograd.grad(logits_of(weights(model), x), [x, *model.parameters()], upstream)
    model(x).backward(upstream)
    for name, p, right in zip(
        ["x", *dict(model.named_parameters())], [x, *model.parameters()], wanted, strict=True
    ):
        expect_that(p.grad is not None, f"no gradient reaches {name}")
        expect_close(p.grad, right, f"the gradient of {name}", scale=10.0)


def test_start(answer):
    """Linear layers start as nn.Linear starts: at random, in ±1/√in_features."""
    first, second = answer.Classifier(60, (80, 80), 9), answer.Classifier(60, (80, 80), 9)
    for m, other in zip(linears(first), linears(second), strict=True):
        bound, spread = m.in_features**-0.5, float(m.weight.detach().std())
        expect_that(
            0.4 * bound < spread < 0.75 * bound,
            f"{m} does not start like an nn.Linear",
            yours=f"standard deviation {spread:.4f}",
            wanted=f"{bound / 3**0.5:.4f}",
        )
        expect_that(not torch.equal(m.weight, other.weight), "two models start with the same weights")


@pytest.mark.fine
def test_container(answer):
    """model.layers is an nn.Sequential of Linear, ReLU, Linear, …, Linear."""
    for features, hidden, classes in SIZES:
        layers = getattr(answer.Classifier(features, hidden, classes), "layers", None)
        expect_that(isinstance(layers, nn.Sequential), "model.layers is no nn.Sequential", yours=layers)
        wanted = ["Linear", "ReLU"] * len(hidden) + ["Linear"]
        kinds = [type(layer).__name__ for layer in layers]
        expect_equal(kinds, wanted, f"the layers of Classifier({features}, {hidden}, {classes})")


@pytest.mark.fine
def test_a_new_head(answer, gen):
    """Forward runs the layers that are there."""
    model, x = answer.Classifier(6, (5, 4), 3), torch.randn(7, 6, generator=gen)
    model.layers[-1] = nn.Linear(4, 8)
    wanted = logits_of(weights(model), x).detach()
    expect_close(model(x).detach(), wanted, "model(x) after model.layers[-1] was replaced", scale=10.0)


@pytest.mark.fine
def test_leading_dimensions(answer, gen):
    """x may have any leading dimensions."""
    for leading in [(), (1,), (2, 3), (2, 1, 3)]:
        expect_logits(answer, gen, (6, (5,), 4), leading)


def by_name(gen):
    """A call of a model with layers 0, 2 and 4."""
    sizes = zip((0, 2, 4), pairwise((6, 5, 4, 3)), strict=True)
    shapes = {f"layers.{place}": (outputs, inputs) for place, (inputs, outputs) in sizes}
    state = {f"{name}.weight": torch.randn(shape, generator=gen) for name, shape in shapes.items()}
    state |= {f"{name}.bias": torch.randn(shape[0], generator=gen) for name, shape in shapes.items()}
    return {"sequences": layer(6, (5, 4), 3, state=state)(torch.randn(2, 5, 6, generator=gen))}


in_use = Contract(
    "Classifier(features, hidden, classes)(x)",
    reference=lambda state, x: logits_of(
        [(state[f"layers.{i}.weight"], state[f"layers.{i}.bias"]) for i in (0, 2, 4)], x
    ),
    fine=[
        loads(inputs=by_name, title="A state dict with layers.0.weight and so on loads."),
        device(inputs=by_name, title="A model that was moved works there."),
        dtypes(torch.float64, inputs=by_name, title="A model that was cast works in its dtype."),
    ],
)


def oracle(answer, gen):
    def drawn(gen, sizes):
        model = answer.Classifier(*sizes)
        with torch.no_grad():
            for m in linears(model):
                m.weight.copy_(torch.randn(m.weight.shape, generator=gen))
                m.bias.copy_(torch.randn(m.bias.shape, generator=gen))
        return model, torch.randn(5, sizes[0], generator=gen, requires_grad=True)

    def logits(gen, sizes, mode):
        model, x = drawn(gen, sizes)
        return model.train(mode == "training")(x).detach()

    def gradients(gen, sizes):
        model, x = drawn(gen, sizes)
        y = model(x)
        y.backward(torch.randn(y.shape, generator=gen))
        return [x.grad, *(m.weight.grad for m in linears(model))]

    cases = {}
    for sizes in SIZES[:3]:
        for mode in ("training", "evaluation"):
            cases[f"Classifier{sizes} in {mode}"] = lambda gen, s=sizes, m=mode: logits(gen, s, m)
        cases[f"the gradients of Classifier{sizes}"] = lambda gen, s=sizes: gradients(gen, s)
    return cases
