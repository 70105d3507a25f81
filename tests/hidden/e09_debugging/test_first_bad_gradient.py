"""What grades first_bad_gradient: NaN and inf, the first of two; in place, dicts, branches, parameters."""

import math

import pytest
import torch
from torch import nn

from grader.checks import expect_equal, expect_that, hooks_of

CALL = "first_bad_gradient(model, compute_loss)"
INF, NAN = math.inf, math.nan


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


class Cleans(torch.autograd.Function):
    """The identity, whose gradient is finite in any case."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad.nan_to_num(0.0, 0.0, 0.0)


class Fn(nn.Module):
    """Computes whatever it is given."""

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *args, **kwargs):
        return self.fn(*args, **kwargs)


def spoils(bad=NAN):
    return Fn(lambda x: BadGradient.apply(x, bad))


def layers(*parts):
    """A stack with a linear layer before and after."""
    return nn.Sequential(nn.Linear(3, 3), *parts, nn.Linear(3, 2))


class Joined(nn.Module):
    """Two parts that are joined by code of the model's own."""

    def __init__(self, between):
        super().__init__()
        self.first, self.last, self.between = nn.Linear(3, 3), nn.Linear(3, 3), between

    def forward(self, x):
        return self.last(self.between(self.first(x)))


def expect_found(answer, gen, model, wanted, case, mistakes=None, loss=torch.mean):
    """`mistakes` tells what goes wrong where another name, or None, comes back."""
    x = torch.randn(4, 3, generator=gen)
    yours = answer.first_bad_gradient(model, lambda: loss(model(x)))
    told = {None: "nothing was found", "0": "this one gets it, and only hands it on", **(mistakes or {})}
    suspects = {told[yours]: lambda: yours} if yours is None or yours in told else None
    expect_equal(yours, wanted, f"{CALL} with {case}", suspects=suspects)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_anywhere(answer, gen, bad):
    """The module that makes NaN or inf in the backward pass is named, wherever it is."""
    model = layers(nn.Tanh(), spoils(bad), nn.Tanh())
    expect_found(
        answer, gen, model, "2", f"{bad} made in one layer", {"1": "this one gets it, and hands it on"}
    )
    deep = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Tanh(), nn.Sequential(spoils(bad))))
    around = {name: "this is a module around the culprit" for name in ("1.1", "1", "")}
    expect_found(answer, gen, deep, "1.1.0", f"{bad} made deep within", around)


def test_first_of_two(answer, gen):
    """Of two modules that make NaN or inf, the one that the backward pass comes to first is named."""
    told = {"1": "the backward pass comes to the later layers first"}
    two = layers(spoils(), nn.Tanh(), spoils(INF))
    expect_found(answer, gen, two, "3", "NaN made in 1 and inf in 3", told)
    cleaned = layers(spoils(), Fn(Cleans.apply), spoils(INF))
    expect_found(answer, gen, cleaned, "3", "inf made in 3, made finite in 2, and NaN made in 1", told)


def test_handed_on(answer, gen):
    """Where the loss makes it, or code between modules, nobody who only hands it on is named."""
    loss = lambda out: BadGradient.apply(out, NAN).mean()  # noqa: E731
    told = {name: "the loss made it: this module was given NaN, and hands it on" for name in ("2", "1", "")}
    expect_found(answer, gen, layers(nn.Tanh()), None, "a loss that makes NaN gradients", told, loss)
    outer = nn.Sequential(nn.Linear(3, 3), Joined(lambda x: BadGradient.apply(x, INF)), nn.Tanh())
    told = {
        "1.first": "this module was given inf: the code before it, in the module around it, makes it",
        None: "a module with parts makes it in code of its own: is it watched?",
    }
    expect_found(answer, gen, outer, "1", "inf made between the parts of a part", told)


def test_no_hook_is_left(answer, gen):
    """Afterwards no hook is left, also where compute_loss raises; the error reaches the caller."""
    error = ValueError("two in the morning")
    for fails in (False, True):
        model, caught = layers(spoils()), None
        before = [hooks_of(m) for m in model.modules()]

        def compute_loss(model=model, fails=fails):
            loss = model(torch.ones(4, 3)).sum()
            if fails:
                raise error
            return loss

        try:
            answer.first_bad_gradient(model, compute_loss)
        except ValueError as raised:
            caught = raised
        expect_that(caught is (error if fails else None), f"{CALL} lost or changed the error of compute_loss")
        expect_that(
            [hooks_of(m) for m in model.modules()] == before,
            f"hooks are left on the model after {CALL}{' with an error' if fails else ''}",
            likely="`remove()` each handle, in `finally`",
        )


@pytest.mark.fine
def test_in_place(answer, gen):
    """Activations in place run as ever."""
    parts = [nn.ReLU(inplace=True), nn.Linear(3, 3), nn.ReLU(inplace=True)]
    for culprit, wanted in ((spoils(), "4"), (nn.Tanh(), None)):
        model = layers(*parts, culprit)
        for layer in (model[0], model[2]):
            nn.init.constant_(layer.bias, 50.0)  # so that each ReLU hands everything on
        expect_found(answer, gen, model, wanted, "activations in place")
    model = layers(spoils(), *parts)
    expect_found(answer, gen, model, "1", "activations in place, behind the culprit")


class Nested(nn.Module):
    """Its parts hand dicts and keyword arguments to each other."""

    def __init__(self, give, take):
        super().__init__()
        self.stem, self.give, self.take, self.last = nn.Linear(3, 3), Fn(give), Fn(take), nn.Linear(3, 1)

    def forward(self, x):
        return self.last(self.take(batch=self.give(x=self.stem(x)), mask=None))


@pytest.mark.fine
def test_nested_data(answer, gen):
    """Tensors in keyword arguments, lists and dicts count."""
    give = lambda x: {"a": [x.sin(), None], "b": x.cos()}  # noqa: E731
    take = lambda batch, mask: batch["a"][0] + batch["b"]  # noqa: E731
    spoiled = lambda batch, mask: BadGradient.apply(batch["a"][0], NAN) + batch["b"]  # noqa: E731
    told = {
        "": "this is the module around the culprit",
        "give": "this one gets NaN, in a dict, and hands it on",
    }
    expect_found(answer, gen, Nested(give, spoiled), "take", "NaN gradients for a tensor in a dict", told)
    spoils_x = lambda x: give(BadGradient.apply(x, INF))  # noqa: E731
    expect_found(answer, gen, Nested(spoils_x, take), "give", "inf gradients for a keyword argument", told)
    expect_found(answer, gen, Nested(give, take), None, "dicts, and no culprit")


@pytest.mark.fine
def test_branches(answer, gen):
    """In x + part(x), the part answers for its own share."""

    class Branches(nn.Module):
        def __init__(self, *parts):
            super().__init__()
            self.stem, self.parts = nn.Linear(3, 3), nn.ModuleList(parts)

        def forward(self, x):
            x = self.stem(x)
            return x + sum(part(x) for part in self.parts)

    told = {f"parts.{n}": "this one's own share of the gradient is finite" for n in range(2)}
    for parts in ([nn.Tanh(), spoils()], [spoils(), nn.Tanh()]):
        wanted = f"parts.{0 if isinstance(parts[0], Fn) else 1}"
        expect_found(answer, gen, Branches(*parts), wanted, "two branches from one tensor", told)


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([0.0, 1.0, 4.0]))

    def forward(self, x):
        return x * self.scale.sqrt()


@pytest.mark.fine
def test_parameters(answer, gen):
    """Where no module hands it on, the innermost one with a bad gradient for a parameter is named."""
    told = {None: "no gradient for an input is bad, but one for a parameter is"}
    inner = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Tanh(), Scale()), nn.Linear(3, 1))
    expect_found(answer, gen, inner, "1.1", "the root of a parameter that holds a 0", told)


@pytest.mark.fine
@pytest.mark.parametrize("kind", ["healthy", "bad"])
def test_grad_is_left_alone(answer, gen, kind):
    """`.grad` stays as it was, NaN too, and compute_loss runs once."""
    model, runs = layers(nn.Tanh() if kind == "healthy" else spoils()), []
    model[0].weight.grad = old = torch.full((3, 3), NAN)

    def compute_loss():
        runs.append(1)
        return model(torch.randn(4, 3, generator=gen)).sum()

    expect_equal(answer.first_bad_gradient(model, compute_loss), None if kind == "healthy" else "1", CALL)
    expect_equal(len(runs), 1, f"the runs of compute_loss in {CALL}")
    expect_that(model[2].weight.grad is None, f"{CALL} leaves a gradient in .grad")
    expect_that(model[0].weight.grad is old, f"{CALL} changes or clears a .grad that was there")


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
        return lambda: [
            answer.first_bad_gradient(model, lambda model=model: model(x).sum()) for model in models
        ]

    healthy = names()
    return {
        "one layer hands on NaN": names(spoils()),
        "one layer hands on inf": names(spoils(INF)),
        "two layers hand on inf or NaN": names(spoils(INF), spoils(NAN)),
        "no layer is to blame": lambda: [*healthy(), *names(spoils(-INF))()],
    }
