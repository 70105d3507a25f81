"""What grades first_nan: planted faults in both passes, false alarms, nested data, what is left behind."""

import copy
import math
from typing import NamedTuple

import pytest
import torch
from torch import nn

from grader.checks import (
    expect_close,
    expect_equal,
    expect_that,
    global_rng_untouched,
    hooks_of,
    hooks_of_all,
    modes_kept,
)

CALL = "first_nan(model, compute_loss)"
INF, NAN = math.inf, math.nan


class Fn(nn.Module):
    """Computes whatever it is given."""

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *args, **kwargs):
        return self.fn(*args, **kwargs)


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


class BadGradient(torch.autograd.Function):
    """The identity, with a gradient that is bad in one place."""

    @staticmethod
    def forward(ctx, x, bad):
        ctx.bad = bad
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        grad.view(-1)[-1] = ctx.bad
        return grad, None


def spoiled(x, bad):
    """A copy with one bad number."""
    keep = torch.ones_like(x, dtype=torch.bool)
    keep.view(-1)[-1] = False
    return torch.where(keep, x, torch.full_like(x, bad))


def spoils(bad):
    return Fn(lambda x: spoiled(x, bad))


def spoils_backward(bad=NAN):
    return Fn(lambda x: BadGradient.apply(x, bad))


def data(gen, *shape):
    return torch.randn(*(shape or (4, 3)), generator=gen)


def found(answer, model, compute_loss):
    result = answer.first_nan(model, compute_loss)
    return result if result is None else (str(result.where), str(result.name))


def expect_found(answer, gen, model, wanted, case="", loss=torch.mean, inputs=None):
    x = data(gen) if inputs is None else inputs
    expect_equal(
        found(answer, model, lambda: loss(model(x))), wanted, CALL + (f" with {case}" if case else "")
    )


def layers(*parts, width=3):
    """A stack with a linear layer before and after."""
    return nn.Sequential(nn.Linear(3, width), *parts, nn.Linear(width, 2))


class Joined(nn.Module):
    """Parts that are joined by code of the model's own."""

    def __init__(self, between, first=None):
        super().__init__()
        self.first = first or nn.Linear(3, 3)
        self.last = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        self.between = between

    def forward(self, x):
        return self.last(self.between(self.first(x)))


class Branches(nn.Module):
    """The same tensor goes into three parts."""

    def __init__(self, *parts):
        super().__init__()
        self.stem, self.parts = nn.Linear(3, 3), nn.ModuleList(parts)

    def forward(self, x):
        x = self.stem(x)
        return x + sum(part(x) for part in self.parts)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_forward(answer, gen, bad):
    """The module that makes NaN or inf is named, wherever it is."""
    expect_found(answer, gen, layers(nn.Tanh(), spoils(bad), nn.Identity()), ("forward", "2"), f"{bad}")
    deep = nn.Sequential(layers(), nn.ModuleDict({"a": spoils(bad)})["a"], nn.Identity())
    expect_found(
        answer, gen, nn.Sequential(layers(), nn.Linear(2, 3), deep), ("forward", "2.1"), "a deep one"
    )
    weights = layers(nn.BatchNorm1d(3))
    weights[1].weight.data[1] = bad
    expect_found(answer, gen, weights, ("forward", "1"), f"a weight of {bad}")
    running = layers(nn.BatchNorm1d(3)).eval()
    running[1].running_mean[0] = bad
    expect_found(answer, gen, running, ("forward", "1"), f"a running mean of {bad}")
    half = layers(Fn(lambda x: (x * 0 + 300).half().square().float()))
    expect_found(answer, gen, half, ("forward", "1"), "an overflow in float16")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64], ids=str)
def test_other_dtypes(answer, gen, dtype):
    """Tensors of every floating or complex dtype are looked at, in both passes."""
    cast, back = Fn(lambda x: x.to(dtype)), Fn(lambda x: x.real.float())
    expect_found(answer, gen, layers(cast, spoils(INF), back), ("forward", "2"), f"inf in {dtype}")
    expect_found(answer, gen, layers(cast, spoils_backward(), back), ("backward", "2"), f"NaN in {dtype}")
    expect_found(answer, gen, layers(cast, nn.Identity(), back), None, f"{dtype} in the middle")


def test_hidden_by_the_loss(answer, gen):
    """inf that the loss does not show, but that makes the gradients NaN, is found in the forward pass."""
    model = layers(Fn(lambda x: (x.abs() + 1) * 1e3), Fn(torch.exp), nn.Tanh())
    expect_found(answer, gen, model, ("forward", "2"), "inf that tanh makes finite")


def test_other_arguments(answer, gen):
    """Masks, numbers of tokens and tensors without numbers are arguments and results like others."""

    class Model(nn.Module):
        def __init__(self, fn):
            super().__init__()
            self.stem, self.part, self.last = nn.Linear(3, 3), Fn(fn), nn.Linear(3, 1)

        def forward(self, x):
            x = self.stem(x)
            x, *_ = self.part(x, mask=x > -9, ids=torch.arange(3), spare=x[:0])
            return self.last(x)

    for fn, wanted in [
        (lambda x, mask, ids, spare: (x * mask, mask, ids, spare), None),
        (lambda x, mask, ids, spare: (spoiled(x, NAN), mask, ids, spare), ("forward", "part")),
        (lambda x, mask, ids, spare: (BadGradient.apply(x, INF), mask, ids, spare), ("backward", "part")),
    ]:
        expect_found(answer, gen, Model(fn), wanted, "a mask, token ids and an empty tensor as arguments")


def test_large_numbers(answer, gen):
    """Large numbers that are finite are no culprits, where something else is."""
    single = layers(Fn(lambda x: x * 0 + 3e38), Fn(lambda x: x * 1e-38), spoils(NAN))
    expect_found(answer, gen, single, ("forward", "3"), "numbers near the largest of float32, and NaN")
    half = layers(Fn(lambda x: (x * 0 + 6e4).half()), Fn(lambda x: x.float()), spoils(NAN))
    expect_found(answer, gen, half, ("forward", "3"), "numbers near the largest of float16, and NaN")


def test_first_of_two(answer, gen):
    """Of two modules that make NaN or inf the first call is named, the inner before the outer."""
    two = layers(spoils(INF), Fn(torch.tanh), nn.Sequential(spoils(NAN)))
    expect_found(answer, gen, two, ("forward", "1"), "inf, made finite, and then NaN")

    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.first = spoils(NAN), spoils(INF)

        def forward(self, x):
            return self.last(self.first(x).tanh())

    expect_found(answer, gen, Backwards(), ("forward", "first"), "modules called in another order")
    both = layers(spoils_backward(), spoils(INF))
    expect_found(answer, gen, both, ("forward", "2"), "NaN backward before inf forward")


def test_between_modules(answer, gen):
    """Code between the modules belongs to the module around it; what only hands NaN on is not to blame."""
    model = Joined(lambda x: spoiled(x, NAN))
    expect_found(answer, gen, model, ("forward", ""), "NaN that the model itself makes")
    outer = nn.Sequential(nn.Linear(3, 3), Joined(lambda x: spoiled(x, NAN)), nn.Tanh())
    expect_found(answer, gen, outer, ("forward", "1"), "NaN that a part makes between its own parts")
    backward = nn.Sequential(nn.Linear(3, 3), Joined(lambda x: BadGradient.apply(x, NAN)), nn.Tanh())
    expect_found(answer, gen, backward, ("backward", "1"), "NaN gradients made between the parts of a part")

    def in_place(x):
        return x.mul_(NAN)

    model = nn.Sequential(nn.Linear(3, 3), Fn(in_place), nn.Tanh())
    expect_found(answer, gen, model, ("forward", "1"), "a module that spoils its own argument")
    model = nn.Sequential(Fn(torch.nan_to_num), nn.Linear(3, 3), spoils(INF))
    case = "NaN in the data, which the first part removes, and inf from a later one"
    expect_found(answer, gen, model, ("forward", "2"), case, inputs=spoiled(data(gen), NAN))


def test_shared_module(answer, gen):
    """Each call of a shared module counts, under the module's first name."""

    class Twice(nn.Module):
        def __init__(self, part, order):
            super().__init__()
            self.stem, self.part, self.order = nn.Linear(3, 3), part, order
            self.alias, self.last = part, nn.Linear(3, 3)

        def forward(self, x):
            x = self.stem(x)
            for flag in self.order:
                x = self.part(x, flag)
            return self.last(x)

    forward = lambda x, flag: spoiled(x, NAN) if flag else x * 2  # noqa: E731
    backward = lambda x, flag: BadGradient.apply(x, INF) if flag else x * 2  # noqa: E731
    for order in [(True, False, False), (False, True, False), (False, False, True)]:
        case = f"a module called three times, bad: {order}"
        expect_found(answer, gen, Twice(Fn(forward), order), ("forward", "part"), case)
        expect_found(answer, gen, Twice(Fn(backward), order), ("backward", "part"), case)
    linear = nn.Linear(3, 3)
    model = nn.Sequential(linear, nn.Tanh(), spoils(NAN), linear)
    x = data(gen)
    expect_equal(
        found(answer, model, lambda: model[:2](x).sum() + model(x).sum()),
        ("forward", "2"),
        f"{CALL} where the model is called in parts",
    )


def nested_models():
    """Models whose parts take and return nested data, with the culprit of each."""

    class Model(nn.Module):
        def __init__(self, give, take, between=lambda bundle: bundle):
            super().__init__()
            self.between = between
            self.stem, self.give, self.take = nn.Linear(3, 3), Fn(give), Fn(take)
            self.last = nn.Linear(3, 1)

        def forward(self, x):
            batch = self.between(self.give(x=self.stem(x)))
            return self.last(self.take(mask=None, batch=batch))

    def inner(batch, mask):
        return batch["a"][0] * 2 + batch["b"]["c"][1] + batch["a"][1]

    def bundle(first, second, third):
        return {"a": (first, third, "text"), "b": {"c": [None, second, 7]}}

    def total(batch, mask):
        return batch[0] * 2 + batch[1]

    def sequences(kind):
        name = f"a {kind.__name__}"
        return {
            f"NaN in {name} that is returned": (
                Model(lambda x: kind([x, spoiled(x, NAN)]), total), ("forward", "give"),
            ),
            f"NaN made between modules, in {name} that is handed over": (
                Model(lambda x: kind([x, x]), total, lambda b: kind([b[0], spoiled(b[1], NAN)])),
                ("forward", ""),
            ),
            f"NaN gradients for a tensor in {name}": (
                Model(
                    lambda x: kind([x.sin(), x.cos()]),
                    lambda batch, mask: batch[0] + BadGradient.apply(batch[1], INF),
                ),
                ("backward", "take"),
            ),
            f"NaN gradients made between modules, for {name}": (
                Model(
                    lambda x: kind([x * 4, x * 2]),
                    total,
                    lambda b: kind([b[0], BadGradient.apply(b[1], NAN)]),
                ),
                ("parameter", "stem.weight"),
            ),
        }  # fmt: skip

    return {
        "NaN in a dict that is returned": (
            Model(lambda x: bundle(x, spoiled(x, NAN), x), inner), ("forward", "give"),
        ),
        "NaN made from a dict": (
            Model(lambda x: bundle(x, x, x), lambda batch, mask: spoiled(inner(batch, mask), INF)),
            ("forward", "take"),
        ),
        "NaN gradients for a keyword argument": (
            Model(lambda x: bundle(BadGradient.apply(x, NAN), x * 2, x * 3), inner), ("backward", "give"),
        ),
        "NaN made between modules, in a dict that is handed over": (
            Model(lambda x: bundle(x, x, x), inner, lambda b: bundle(b["a"][0], spoiled(b["a"][1], NAN), 0)),
            ("forward", ""),
        ),
        "NaN gradients made between modules, for a dict": (
            Model(
                lambda x: bundle(x * 4, x * 2, x * 3),
                inner,
                lambda b: bundle(b["a"][0], BadGradient.apply(b["b"]["c"][1], NAN), b["a"][1]),
            ),
            ("parameter", "stem.weight"),
        ),
        "NaN gradients for a tensor in a dict": (
            Model(
                lambda x: bundle(x * 2, x.sin(), x.cos()),
                lambda batch, mask: inner(
                    bundle(batch["a"][0], BadGradient.apply(batch["b"]["c"][1], INF), batch["a"][1]), mask
                ),
            ),
            ("backward", "take"),
        ),
        **sequences(list),
        **sequences(tuple),
        "NaN in a NamedTuple that is returned": (
            Model(lambda x: Pair(x, spoiled(x, NAN)), lambda batch, mask: batch.first * 2 + batch.second),
            ("forward", "give"),
        ),
    }  # fmt: skip


def test_nested_data(answer, gen):
    """Keyword arguments, tuples, lists and dicts are looked into, also for gradients."""
    for case, (model, wanted) in nested_models().items():
        expect_found(answer, gen, model, wanted, case)


def test_healthy(answer, gen):
    """Where loss and gradients are finite there is no culprit, whatever passes between modules."""
    masked = layers(Fn(lambda x: x.masked_fill(torch.tensor([False, True, False]), -INF)), nn.Softmax(dim=1))
    expect_found(answer, gen, masked, None, "scores masked by -inf")
    large = layers(Fn(lambda x: x * 0 + 3e38), Fn(lambda x: x * 1e-38))
    expect_found(answer, gen, large, None, "numbers near the largest of float32")
    model = nn.Sequential(
        nn.Embedding(5, 3), nn.Flatten(), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 1)
    )
    ids = torch.tensor([[0, 1], [2, 3], [4, 0]])
    expect_found(answer, gen, model, None, "token ids", inputs=ids)
    expect_found(answer, gen, layers().double(), None, "float64", inputs=data(gen).double())
    frozen = layers(spoils_backward())
    for p in frozen[0].parameters():
        p.requires_grad_(False)
    expect_found(answer, gen, frozen, None, "NaN that no parameter's gradient gets")
    first = nn.Sequential(spoils_backward(), nn.Linear(3, 2))
    wanting = data(gen).requires_grad_()
    expect_found(answer, gen, first, None, "NaN that the gradient of the input alone gets", inputs=wanting)
    old = layers()
    old[0].weight.grad = torch.full_like(old[0].weight, NAN)
    expect_found(answer, gen, old, None, "an old gradient of NaN")
    old[0].weight.requires_grad_(False)
    expect_found(answer, gen, old, None, "an old gradient of NaN at a parameter that is frozen now")
    steep = lambda out: out.mean() * 1e30  # noqa: E731
    expect_found(answer, gen, layers(), None, "gradients with squares beyond float32", loss=steep)
    unused = layers()
    unused[0].spare = nn.Linear(2, 2)
    unused[0].spare.weight.data.fill_(NAN)
    expect_found(answer, gen, unused, None, "NaN in a layer that is not called")


def test_outside(answer, gen):
    """Where the data or the loss function are to blame, no module is."""
    outside = ("outside", "")
    bad = data(gen)
    bad[1, 2] = NAN
    expect_found(answer, gen, layers(nn.Tanh()), outside, "NaN in the data", inputs=bad)
    bad[1, 2] = INF
    expect_found(answer, gen, layers(nn.Identity()), outside, "inf in the data", inputs=bad)
    expect_found(
        answer, gen, layers(), outside, "a loss of inf", loss=lambda out: (out * 0 + 1e30).square().sum()
    )
    expect_found(answer, gen, layers(), outside, "a loss of NaN", loss=lambda out: out.sum() * NAN)
    both = layers(spoils(NAN))
    expect_found(answer, gen, both, outside, "NaN in the data and in a module", inputs=bad)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_backward(answer, gen, bad):
    """The module that makes NaN or inf in the backward pass alone is named, wherever it is."""
    expect_found(answer, gen, layers(nn.Tanh(), spoils_backward(bad), nn.Tanh()), ("backward", "2"), f"{bad}")
    deep = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Tanh(), nn.Sequential(spoils_backward(bad))))
    expect_found(answer, gen, deep, ("backward", "1.1.0"), "one deep in the model")
    two = layers(spoils_backward(bad), nn.Linear(3, 3), spoils_backward(bad), nn.Tanh())
    expect_found(answer, gen, two, ("backward", "3"), "two of them")
    for parts in [(nn.Tanh(), spoils_backward(bad)), (spoils_backward(bad), nn.Tanh(), nn.Linear(3, 3))]:
        number = 1 if len(parts) == 2 else 0
        expect_found(
            answer, gen, Branches(*parts), ("backward", f"parts.{number}"), "branches from one tensor"
        )


def test_first_in_the_backward_pass(answer, gen):
    """Of two branches that make NaN gradients, the one that the backward pass comes to first is named."""
    both = Branches(spoils_backward(), spoils_backward())
    expect_found(answer, gen, both, ("backward", "parts.1"), "two bad branches from one tensor")
    both = Branches(nn.Tanh(), spoils_backward(), nn.Sequential(spoils_backward()), nn.Tanh())
    expect_found(answer, gen, both, ("backward", "parts.2.0"), "two bad branches of four from one tensor")


def test_parameter(answer, gen):
    """Where no module hands it on, the first parameter with a bad gradient is named."""

    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.shift = nn.Parameter(torch.ones(3))
            self.scale = nn.Parameter(torch.tensor([0.0, 1.0, 4.0]))

        def forward(self, x):
            return x * self.scale.sqrt() + self.shift

    expect_found(answer, gen, nn.Sequential(Scale(), nn.Linear(3, 1)), ("parameter", "0.scale"))
    inner = nn.Sequential(nn.Linear(3, 3), Scale(), nn.Linear(3, 1))
    expect_found(answer, gen, inner, ("parameter", "1.scale"), "a parameter in the middle")
    expect_found(answer, gen, Joined(lambda x: BadGradient.apply(x, NAN)), ("parameter", "first.weight"))
    at_zero = lambda out: (out * 0).square().sum().sqrt()  # noqa: E731
    expect_found(answer, gen, layers(nn.Tanh()), ("parameter", "0.weight"), "a loss of sqrt(0)", loss=at_zero)


class Fallback(nn.Module):
    """Takes the other part where one raises."""

    def __init__(self, part, between=lambda x: x):
        super().__init__()
        self.between = between
        self.stem, self.large = nn.Linear(3, 3), nn.Sequential(nn.Tanh(), nn.Linear(7, 3))
        self.small, self.last = part, nn.Linear(3, 2)

    def forward(self, x):
        x = self.stem(x)
        try:
            x = self.large(x)
        except RuntimeError:
            x = self.small(x)
        return self.last(self.between(x))


def test_caught_error(answer, gen):
    """A model that catches the error of a part is judged as ever."""
    expect_found(answer, gen, Fallback(nn.Tanh()), None, "an error that is caught")
    for part, where in [(spoils(NAN), "forward"), (spoils_backward(), "backward")]:
        model = nn.Sequential(Fallback(part), nn.Linear(2, 2))
        expect_found(answer, gen, model, (where, "0.small"), "an error that is caught")
    model = nn.Sequential(Fallback(nn.Tanh()), Fn(lambda x: spoiled(x, INF)), nn.Linear(2, 2))
    expect_found(answer, gen, model, ("forward", "1"), "an error that is caught before")
    model = nn.Sequential(nn.Linear(3, 3), Fallback(nn.Tanh()), nn.Linear(2, 2))
    spoiled_loss = lambda out: BadGradient.apply(out, NAN).mean()  # noqa: E731
    case = "an error that is caught, and a loss that makes NaN gradients"
    expect_found(answer, gen, model, ("parameter", "0.weight"), case, loss=spoiled_loss)
    model = nn.Sequential(Fallback(nn.Tanh(), lambda x: spoiled(x, NAN)), nn.Linear(2, 2))
    expect_found(answer, gen, model, ("forward", "0"), "NaN after an error that is caught")


def alive(model):
    """Weights and biases with which each ReLU passes everything on."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.constant_(module.bias, 50.0)
            module.weight.data.abs_()
    return model


def test_in_place(answer, gen):
    """A model with activations that work in place runs as ever, and is judged as ever."""
    parts = [nn.ReLU(inplace=True), nn.Linear(3, 3), nn.ReLU(inplace=True)]
    expect_found(answer, gen, alive(layers(*parts)), None, "activations in place")
    expect_found(answer, gen, alive(layers(*parts, spoils(NAN))), ("forward", "4"), "activations in place")
    expect_found(
        answer, gen, alive(layers(*parts, spoils_backward())), ("backward", "4"), "activations in place"
    )
    before = alive(layers(spoils_backward(), *parts))
    expect_found(answer, gen, before, ("backward", "1"), "activations in place")


def test_in_place_without_result(answer, gen):
    """A model may use the argument that a part has changed, and not the result."""

    class Model(nn.Module):
        def __init__(self, *parts):
            super().__init__()
            self.first, self.act, self.rest = nn.Linear(3, 3), nn.ReLU(inplace=True), nn.Sequential(*parts)

        def forward(self, x):
            x = self.first(x)
            self.act(x)
            return self.rest(x)

    model, x, losses = Model(nn.Linear(3, 2)), data(gen, 9, 3), []
    wanted = model(x).sum().detach()

    def compute_loss():
        losses.append(model(x).sum())
        return losses[-1]

    expect_equal(found(answer, model, compute_loss), None, f"{CALL} with an activation in place")
    expect_close(losses[0].detach(), wanted, "the loss in the run, of a model with an activation in place")
    roots = alive(Model(Fn(torch.sqrt), nn.Linear(3, 2)))
    expect_found(answer, gen, roots, None, "roots of what an activation has changed in place")
    expect_found(answer, gen, Model(spoils(NAN)), ("forward", "rest.0"), "an activation in place")


def test_without_a_backward(answer, gen):
    """Without a graph or without parameters there is the forward pass alone."""
    x, model = data(gen), layers(spoils_backward())
    with torch.no_grad():
        expect_equal(found(answer, model, lambda: model(x).sum()), None, f"{CALL} without a graph")
        bad = layers(spoils(NAN))
        expect_equal(found(answer, bad, lambda: bad(x).sum()), ("forward", "1"), f"{CALL} without a graph")
        masked = layers(Fn(lambda x: x.masked_fill(x > 0, -INF)), Fn(torch.exp))
        about = f"{CALL} of scores masked by -inf, without a graph"
        expect_equal(found(answer, masked, lambda: masked(x).sum()), None, about)
    plain = nn.Sequential(nn.Tanh(), nn.Softmax(1))
    expect_found(answer, gen, plain, None, "no parameters")
    expect_found(answer, gen, nn.Sequential(nn.Tanh(), spoils(INF)), ("forward", "1"), "no parameters")
    for p in model.parameters():
        p.requires_grad_(False)
    expect_found(answer, gen, model, None, "frozen parameters")
    graph = data(gen).requires_grad_()  # for an attack or a saliency map, say
    expect_found(answer, gen, model, None, "frozen parameters, inputs that require a gradient", inputs=graph)


def traces(model):
    """All that a tool could leave behind."""
    found = {name: (sorted(vars(m)), m.training, hooks_of(m)) for name, m in model.named_modules()}
    tensors = [(hooks_of(p), p.requires_grad) for p in model.parameters()]
    return found, hooks_of_all(), tensors, torch.is_anomaly_enabled(), torch.is_grad_enabled()


def state(model):
    """Parameters, buffers and gradients, as clones."""
    grads = {f"the gradient of {n}": p.grad for n, p in model.named_parameters()}
    return {n: None if t is None else t.detach().clone() for n, t in {**model.state_dict(), **grads}.items()}


@pytest.mark.parametrize("kind", ["healthy", "forward", "backward", "raises"])
def test_nothing_is_left(answer, gen, kind):
    """Afterwards hooks, modes, gradients and buffers are as before, also of a model that raises."""
    error = KeyboardInterrupt("two in the morning")

    def fail(x):
        raise error

    part = {"healthy": nn.Tanh(), "forward": spoils(NAN), "backward": spoils_backward(), "raises": Fn(fail)}[
        kind
    ]
    model = nn.Sequential(
        layers(nn.BatchNorm1d(3)), nn.Linear(2, 3), part, nn.BatchNorm1d(3), nn.Linear(3, 1)
    )
    model[0].eval()
    model[1].weight.grad = data(gen, 3, 2)
    model[3].bias.requires_grad_(False).grad = data(gen, 3)
    model[1].register_forward_hook(lambda *_: None)
    torch.autograd.set_detect_anomaly(False)
    x, before, values = data(gen), traces(model), state(model)
    raised = None
    try:
        found(answer, model, lambda: model(x).sum())
    except (Exception, KeyboardInterrupt) as caught:
        raised = caught
    expect_that(
        raised is (error if kind == "raises" else None),
        "another error than that of compute_loss",
        yours=repr(raised),
    )
    expect_that(traces(model) == before, f"hooks, modes or attributes are not as before ({kind})")
    for name, now in state(model).items():
        expect_equal(now, values[name], f"{name} afterwards ({kind})")


class Tracker(nn.Module):
    """Changes all that a module may change in its forward pass."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 3, max_norm=0.1)  # shortens the rows that it looks up
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("count", torch.zeros(()), persistent=False)
        self.register_buffer("last", None)
        self.frozen = nn.Parameter(torch.zeros(3), requires_grad=False)

    def forward(self, ids):
        self.frozen.data += 1
        x = self.embedding(ids)
        self.mean = 0.9 * self.mean + x.detach().mean((0, 1))
        self.count += 1
        self.last = x.detach()
        return x


@pytest.mark.parametrize("kind", ["returns", "raises"])
def test_what_the_run_changes(answer, gen, kind):
    """What the run itself changes is as before: parameters, buffers of all kinds, modes."""
    model = nn.Sequential(Tracker(), nn.Flatten(), nn.Linear(6, 1))
    model[2].eval()
    tracker, ids = model[0], torch.tensor([[0, 1], [2, 3]])
    weight = tracker.embedding.weight.detach().clone()
    error = ZeroDivisionError("in the loss")

    def compute_loss():
        model.eval()
        loss = model(ids).sum()
        if kind == "raises":
            raise error
        return loss

    raised = None
    with modes_kept(f"a run that {kind}", model):
        try:
            found(answer, model, compute_loss)
        except ZeroDivisionError as caught:
            raised = caught
    expect_equal(raised is not None, kind == "raises", "whether the error of compute_loss comes out")
    expect_that(raised in (None, error), "the error is another object than that of compute_loss")
    expect_equal(tracker.embedding.weight.detach(), weight, f"an embedding with max_norm afterwards ({kind})")
    expect_equal(tracker.frozen.detach(), torch.zeros(3), f"a frozen parameter afterwards ({kind})")
    expect_equal(tracker.mean, torch.zeros(3), f"a buffer that is assigned anew, afterwards ({kind})")
    expect_equal(tracker.count, torch.zeros(()), f"a buffer that is not persistent, afterwards ({kind})")
    expect_that(tracker.last is None, f"a buffer that was None is not, afterwards ({kind})")


def test_loss_is_the_same(answer, gen):
    """compute_loss runs once, and gets the values and random numbers that it would get without."""
    model, x, losses = layers(nn.Dropout(0.5), nn.BatchNorm1d(3)), data(gen), []
    twin = copy.deepcopy(model)
    torch.manual_seed(5)
    wanted = twin(x).square().sum().detach()

    def compute_loss():
        loss = model(x).square().sum()
        losses.append(loss.detach())
        return loss

    torch.manual_seed(5)
    expect_equal(found(answer, model, compute_loss), None, CALL)
    expect_equal(len(losses), 1, "the runs of compute_loss")
    expect_close(losses[0], wanted, "the loss in the run")
    quiet = layers(nn.Tanh())
    with global_rng_untouched(CALL):
        found(answer, quiet, lambda: quiet(x).sum())


def blocks(gen, *culprits):
    """Four blocks of two layers, with each culprit in a place of its own behind one of them."""
    parts = [[nn.Linear(3, 3), nn.Tanh()] for _ in range(4)]
    places = torch.randperm(8, generator=gen)[: len(culprits)].sort(descending=True).values.tolist()
    for place, culprit in zip(places, culprits, strict=True):
        parts[place // 2].insert(place % 2 + 1, culprit)
    return nn.Sequential(*[nn.Sequential(*block) for block in parts])


def oracle(answer, gen):
    x, results = data(gen), {}
    for name, *culprits in (
        ("one layer returns NaN", spoils(NAN)),
        ("two layers return inf", spoils(INF), spoils(INF)),
        ("one layer hands on a gradient of inf", spoils_backward(INF)),
        ("two layers hand on gradients of NaN", spoils_backward(NAN), spoils_backward(NAN)),
    ):
        models = [blocks(gen, *culprits) for _ in range(6)]
        results[name] = [found(answer, model, lambda model=model: model(x).sum()) for model in models]
    healthy = blocks(gen)
    results["no layer is to blame, of a finite loss and of one that is NaN"] = [
        found(answer, healthy, lambda factor=factor: healthy(x).sum() * factor) for factor in (1.0, NAN)
    ]
    return results
