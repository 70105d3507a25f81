"""What grades freeze_backbone: steps, modes, what trains; what was frozen before, what is shared."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, given, values
from grader.checks.registered import randomize


def parts(gen):
    """A backbone and a head, both with batch norm."""
    backbone = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh()).double()
    head = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2)).double()
    for part in (*backbone[:2], *head):
        randomize(part, gen)
    return backbone, head


def batches(gen, *sizes, unfreeze=None):
    x, y = ([torch.randn(n, features, generator=gen).double() for n in sizes] for features in (3, 2))
    return given(*parts(gen), x, y, unfreeze)


def sgd(params):
    return torch.optim.SGD(list(params), lr=0.1)


def written_out(
    backbone, head, inputs, targets, unfreeze, trains=False, mode=False, head_mode=True, late=False, cut=False
):
    """The losses, and what the model says at last; what comes after `unfreeze` is as people get it wrong."""
    losses = []
    for n, (x, y) in enumerate(zip(inputs, targets, strict=True)):
        free = unfreeze is not None and n >= unfreeze
        backbone.train(mode or (free and not late))
        head.train(head_mode)
        for p in backbone.parameters():
            p.requires_grad_(trains or (free and not cut))
        optimizer = sgd([*backbone.parameters(), *head.parameters()])
        optimizer.zero_grad()
        loss = F.mse_loss(head(backbone(x)), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    backbone.eval()
    head.eval()
    return torch.stack(losses), head(backbone(inputs[0])).detach()


def through(answer, backbone, head, inputs, targets, unfreeze):
    """The same, by a model of the answer."""
    model, losses = answer.FineTuned(backbone, head), []
    for n, (x, y) in enumerate(zip(inputs, targets, strict=True)):
        model.train()
        if n == unfreeze:
            model.unfreeze()
        optimizer = sgd(model.trainable_parameters())
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    model.eval()
    return torch.stack(losses), model(inputs[0]).detach()


def wrong(**how):
    return partial(written_out, **how)


contract = Contract(
    "training(backbone, head, inputs, targets, unfreeze)",
    reference=written_out,
    use=through,
    inputs=lambda gen: {
        "three batches, all frozen": batches(gen, 5, 3, 4),
        "five batches, the last two after unfreeze()": batches(gen, 3, 6, 4, 5, 3, unfreeze=3),
        "two batches after unfreeze()": batches(gen, 4, 7, unfreeze=0),
    },
    after="backbone head",
    ulps=1e4,
    scale=1.0,
    suspects={
        "the backbone is in training mode: its batch norm goes on counting": wrong(mode=True),
        "the backbone's parameters train before unfreeze()": wrong(trains=True),
        "the backbone's parameters train, and its batch norm goes on counting": wrong(trains=True, mode=True),
        "the head is in evaluation mode": wrong(head_mode=False),
        "the backbone is in evaluation mode after unfreeze()": wrong(late=True),
        "the backbone does not train after unfreeze()": wrong(cut=True),
        "nothing happens at unfreeze()": wrong(cut=True, late=True),
    },
    job=[
        values(title="Losses, weights and statistics of some steps are right, before and after unfreeze().")
    ],
)


def network():
    """A backbone with batch norm and dropout, and a head with dropout."""
    body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(nn.ReLU(), nn.Dropout(0.5)))
    return body, nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 2))


def expect_modes(model, backbone, head, when):
    """Fail unless all layers of each part are in the mode wanted: True is training."""
    for name, part, wanted in (("backbone", model.backbone, backbone), ("head", model.head, head)):
        for layer in part.modules():
            kind, mode = type(layer).__name__, "training" if wanted else "evaluation"
            expect_that(layer.training == wanted, f"{kind} of the {name} is not in {mode} mode {when}")


@pytest.fixture
def model(answer):
    return answer.FineTuned(*network())


def test_modes(model):
    """The backbone is in evaluation mode until unfreeze(), then it follows as the head does."""
    expect_modes(model, False, True, "in a new model")
    model.eval()
    expect_modes(model, False, False, "after model.eval()")
    outer = nn.Sequential(model)
    outer.train()
    expect_modes(model, False, True, "after train() of a module around the model")
    model.unfreeze()
    expect_modes(model, True, True, "right after model.unfreeze() in training mode")
    model.eval()
    expect_modes(model, False, False, "after model.unfreeze() and model.eval()")
    model.train()
    expect_modes(model, True, True, "after model.unfreeze() and model.train()")


def test_unfrozen_in_evaluation_mode(model):
    """unfreeze() changes no mode of a model in evaluation mode."""
    model.eval()
    model.unfreeze()
    expect_modes(model, False, False, "after model.eval() and model.unfreeze()")


def test_trainable_parameters(model):
    """The optimizer gets the head's parameters, and all after unfreeze()."""
    for when, wanted in (("", [*model.head.parameters()]), (" after unfreeze()", [*model.parameters()])):
        listed = {id(p) for p in model.trainable_parameters()}
        names = sorted(name for name, p in model.named_parameters() if id(p) in listed)
        right = sorted(n for n, p in model.named_parameters() if any(p is other for other in wanted))
        expect_equal(names, right, f"the names of model.trainable_parameters(){when}")
        asked = sorted(name for name, p in model.named_parameters() if p.requires_grad)
        expect_equal(asked, right, f"the names of what requires a gradient{when}")
        model.unfreeze()


@pytest.mark.fine
def test_returns_the_model(model):
    """train() and eval() return the model."""
    for name in ("train", "eval"):
        expect_that(getattr(model, name)() is model, f"model.{name}() does not return the model")


@pytest.mark.fine
def test_frozen_before(answer):
    """What was frozen before it came here is still frozen after unfreeze()."""
    backbone, head = network()
    backbone[0].requires_grad_(False)
    model = answer.FineTuned(backbone, head)
    model.unfreeze()
    names = [name for name, p in model.named_parameters() if not p.requires_grad]
    call = "what is frozen after unfreeze(), where backbone.0 was frozen before,"
    expect_equal(names, ["backbone.0.weight", "backbone.0.bias"], call)


@pytest.mark.fine
def test_shared(answer):
    """A parameter that backbone and head share is listed once, and trains with the head."""
    embed, head = nn.Embedding(5, 3), nn.Linear(3, 5)
    head.weight = embed.weight
    model = answer.FineTuned(nn.Sequential(embed, nn.Linear(3, 3)), head)
    sizes = sorted(tuple(p.shape) for p in model.trainable_parameters())
    expect_equal(sizes, [(5,), (5, 3)], "the shapes of trainable_parameters() with a shared weight")
    model.unfreeze()
    sizes = sorted(tuple(p.shape) for p in model.trainable_parameters())
    wanted = [(3,), (3, 3), (5,), (5, 3)]
    expect_equal(sizes, wanted, "the shapes of trainable_parameters() with a shared weight, after unfreeze()")
