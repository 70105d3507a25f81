"""What grades fold_batch_norm: what the folded compute, chains, modes; affine, half precision, statistics."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_raises, expect_that
from grader.checks.registered import state_of
from grader.checks.rounding import expect_rounded

CALL = "fold(conv, norm)"


def filled(module, gen):
    """The module with random weights and statistics."""
    with torch.no_grad():
        for name, t in module.state_dict().items():
            if t.is_floating_point():
                drawn = torch.randn(t.shape, generator=gen)
                t.copy_(drawn.abs() + 0.3 if name.endswith("running_var") else drawn)
    return module


def pair(gen, *channels, affine=True, eps=1e-5, **options):
    conv = nn.Conv2d(*channels, **options)
    return filled(conv, gen), filled(nn.BatchNorm2d(channels[1], eps=eps, affine=affine), gen)


def pairs(gen):
    return {
        "without a bias": pair(gen, 3, 4, 3, bias=False, eps=0.1),
        "with a bias, stride and padding": pair(gen, 2, 5, (3, 2), stride=2, padding=1),
        "with groups and dilation": pair(gen, 4, 6, 2, groups=2, dilation=2, eps=0.5),
        "with circular padding": pair(gen, 2, 2, 3, padding=1, padding_mode="circular"),
    }


def after(conv, norm, x, mean=True, eps=True, bias=True, root=True, gamma=True, beta=True):
    """What conv and norm compute, in float64; the switches are as people forget it."""
    conv = copy.deepcopy(conv).double()
    if conv.bias is not None and not bias:
        conv.bias = None
    factor = norm.running_var.double() + (norm.eps if eps else 0.0)
    factor = 1 / (factor.sqrt() if root else factor)
    y = conv(x.double()).detach() - (norm.running_mean.double()[:, None, None] if mean else 0.0)
    if norm.weight is not None and gamma:
        factor = factor * norm.weight.detach().double()
    y = y * factor[:, None, None]
    return y + norm.bias.detach().double()[:, None, None] if norm.bias is not None and beta else y


def image(gen, conv):
    return torch.randn(2, conv.in_channels, 7, 9, generator=gen)


def test_fold(answer, gen):
    """The folded convolution computes what the two layers do in evaluation, with whatever options."""
    words = {
        "mean": "running_mean is left out",
        "eps": "eps is left out",
        "bias": "the convolution's own bias is left out",
        "root": "it is divided by the variance, not by its root",
        "gamma": "the weight of the norm is left out",
        "beta": "the bias of the norm is left out",
    }
    for about, (conv, norm) in pairs(gen).items():
        x = image(gen, conv)
        wanted = after(conv, norm, x).float()
        made = answer.fold(conv, norm)
        expect_equal(type(made), nn.Conv2d, f"the type of {CALL} {about}")
        suspects = {
            told: lambda key=key, conv=conv, norm=norm, x=x: after(conv, norm, x, **{key: False}).float()
            for key, told in words.items()
        }
        suspects["the mean and variance are those of the batch"] = lambda conv=conv, norm=norm, x=x: (
            F.batch_norm(conv(x), None, None, norm.weight, norm.bias, True, 0.0, norm.eps).detach()
        )
        expect_close(made(x).detach(), wanted, f"{CALL}(x) {about}", scale=30.0, suspects=suspects)


def test_layers_stay(answer, gen):
    """fold leaves conv and norm as they are, and what comes back has memory of its own."""
    conv, norm = pair(gen, 2, 3, 3)
    before = state_of(conv), state_of(norm)
    made = answer.fold(conv, norm)
    with torch.no_grad():
        made.weight.zero_()
        made.bias.zero_()
    for module, state, name in ((conv, before[0], "conv"), (norm, before[1], "norm")):
        expect_equal(state_of(module), state, f"the state of {name} after {CALL}, whose result is set to 0")


class Block(nn.Module):
    """Something with a Sequential of its own, and layers that are in none."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU())
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        return self.norm(x + self.body(x))


def model(gen):
    first = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), Block(), nn.BatchNorm2d(4))
    last = nn.Sequential(nn.Conv2d(4, 2, 1), nn.Dropout(0.5), nn.BatchNorm2d(2), nn.Flatten())
    return filled(nn.Sequential(first, last), gen)


NAMES = ["Conv2d", "Identity", "ReLU", "Block", "BatchNorm2d"]


def test_whole_model(answer, gen):
    """In every Sequential norms behind convolutions are folded, others stay, and it computes the same."""
    given, x = model(gen), torch.randn(2, 3, 6, 5, generator=gen)
    wanted = copy.deepcopy(given).double().eval()(x.double()).detach().float()
    made = answer.fold_all(given)
    expect_close(made(x).detach(), wanted, "fold_all(model)(x)", scale=100.0)
    kinds = [type(part).__name__ for part in made[0]]
    expect_equal(kinds, NAMES, "the layers of a Sequential in fold_all(model)")
    kinds = [type(part).__name__ for part in made[0][3].body]
    expect_equal(
        kinds, ["Conv2d", "Identity", "ReLU"], "the layers of a Sequential within a layer of its own"
    )
    kinds = [type(part).__name__ for part in made[1]]
    wanted = ["Conv2d", "Dropout", "BatchNorm2d", "Flatten"]
    expect_equal(kinds, wanted, "the layers of a Sequential whose norm is not right behind the convolution")


def test_model_stays(answer, gen):
    """The model itself keeps its layers, numbers and mode; what comes back is in evaluation mode."""
    given = model(gen).train()
    before, kinds = state_of(given), [type(part) for part in given.modules()]
    made = answer.fold_all(given)
    expect_equal([type(part) for part in given.modules()], kinds, "the model's layers after fold_all(model)")
    expect_equal(state_of(given), before, "the model's state after fold_all(model)")
    expect_that(all(part.training for part in given.modules()), "fold_all(model) changes the model's mode")
    modes = [part.training for part in made.modules() if isinstance(part, nn.BatchNorm2d | nn.Dropout)]
    expect_that(not any([made.training, *modes]), "fold_all(model) is in training mode")


@pytest.mark.fine
def test_without_affine(answer, gen):
    """A norm with affine=False has neither weight nor bias."""
    conv, norm = pair(gen, 3, 4, 2, affine=False)
    x = image(gen, conv)
    yours = answer.fold(conv, norm)(x).detach()
    expect_close(yours, after(conv, norm, x).float(), f"{CALL}(x), affine=False", scale=30.0)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """In half precision sums are in float32, and the folded layer has conv's dtype."""
    conv, norm = (layer.to(dtype) for layer in pair(gen, 3, 6, 3, eps=1e-5))
    with torch.no_grad():
        norm.running_var.mul_(1e-3)
    exact = (norm.running_var.double() + norm.eps).rsqrt() * norm.weight.detach().double()
    bias = (conv.bias.detach().double() - norm.running_mean.double()) * exact + norm.bias.detach().double()
    sizes = conv.bias.detach().double().abs() + norm.running_mean.double().abs()
    slack = (sizes * exact.abs() + norm.bias.detach().double().abs()) * 2.0**-20
    weight = conv.weight.detach().double() * exact[:, None, None, None]
    made = answer.fold(conv, norm)
    expect_rounded(made.bias.detach(), bias, dtype, f"the bias of {CALL} in {dtype}", slack=slack)
    slack = weight.abs() * 2.0**-20
    expect_rounded(made.weight.detach(), weight, dtype, f"the weight of {CALL} in {dtype}", slack=slack)


@pytest.mark.fine
def test_without_statistics(answer, gen):
    """A norm without running statistics raises ValueError, and stays in a model."""
    conv, norm = nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3, track_running_stats=False)
    expect_raises(ValueError, lambda: answer.fold(conv, norm), f"{CALL}, track_running_stats=False")
    made = answer.fold_all(nn.Sequential(conv, norm))
    kinds = [type(part).__name__ for part in made]
    expect_equal(kinds, ["Conv2d", "BatchNorm2d"], "the layers of fold_all(model), a norm without statistics")


def oracle(answer, gen):
    def case(conv, norm):
        x = image(gen, conv)
        return lambda: answer.fold(conv, norm)(x).detach()

    given, x = model(gen), torch.randn(2, 3, 6, 5, generator=gen)
    cases = {about: case(*layers) for about, layers in pairs(gen).items()}
    return {**cases, "a whole model": lambda: answer.fold_all(given)(x).detach()}
