"""What grades fit: the mode of every layer at every batch, weights and losses, models that override train."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, given, values
from grader.checks.registered import randomize


class Finetuned(nn.Sequential):
    """A batch norm that is frozen for ever."""

    def train(self, mode=True):
        super().train(mode)
        self[0][1].eval()
        return self


def network(gen, p=0.0, kind=nn.Sequential):
    """3 features, 4 hidden units with batch norm and dropout, 2 outputs."""
    hidden = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(p))
    model = kind(hidden, nn.Linear(4, 2)).double()
    for layer in (hidden[0], model[1]):
        randomize(layer, gen)
    return model


def batches(gen, *sizes):
    return [
        (torch.randn(n, 3, generator=gen).double(), torch.randn(n, 2, generator=gen).double()) for n in sizes
    ]


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)


def numbers(gen, train, val, epochs, mode=True, kind=nn.Sequential):
    """Epochs with batches of these sizes, of a model that comes in this mode."""
    model = network(gen, kind=kind).train(mode)
    return given(model, F.mse_loss, sgd(model), batches(gen, *train), batches(gen, *val), epochs)


def by_hand(model, mode):
    for layer in model.modules():
        layer.training = mode


def written_out(
    model,
    loss_fn,
    optimizer,
    train,
    val,
    epochs,
    train_in=lambda epoch: True,
    val_in=lambda epoch: False,
    means=False,
    switch=lambda model, mode: model.train(mode),
):
    """The losses, with the modes of each epoch; `means`: of the batches' means."""
    history = []
    for epoch in range(epochs + 1):
        if epoch > 0:
            switch(model, train_in(epoch))
            for inputs, targets in train:
                optimizer.zero_grad()
                loss_fn(model(inputs), targets).backward()
                optimizer.step()
        switch(model, val_in(epoch))
        with torch.no_grad():
            losses = [loss_fn(model(inputs), targets).item() for inputs, targets in val]
        sizes = [1 if means else len(targets) for _, targets in val]
        history.append(sum(x * n for x, n in zip(losses, sizes, strict=True)) / sum(sizes))
    return history


def wrong(**how):
    return partial(written_out, **how)


contract = Contract(
    "fit(model, loss_fn, optimizer, train_batches, val_batches, epochs)",
    reference=written_out,
    inputs=lambda gen: {
        "a model in training mode": numbers(gen, (4, 3, 2), (5, 5, 2), 3),
        "a model in evaluation mode": numbers(gen, (4, 3), (5, 5, 1), 3, mode=False),
        "a single epoch": numbers(gen, (6, 2), (3,), 1),
    },
    after="model",
    ulps=1e4,
    scale=1.0,
    suspects={
        "epochs after the first train in evaluation mode": wrong(train_in=lambda epoch: epoch == 1),
        "all epochs train in evaluation mode": wrong(train_in=lambda epoch: False),
        "the first validation runs in training mode": wrong(val_in=lambda epoch: epoch == 0),
        "validation runs in training mode": wrong(val_in=lambda epoch: True),
        "validation after an epoch runs in training mode": wrong(val_in=lambda epoch: epoch > 0),
        "a mean of the batches' means: weigh each by the number of its examples": wrong(means=True),
        "a batch norm trains, though the model's own `train` keeps it in evaluation mode": wrong(
            switch=by_hand
        ),
    },
    job=[values(title="Weights, statistics and losses are those of a loop that is written out.")],
    fine=[
        values(
            inputs=lambda gen: {
                "a model that overrides train": numbers(gen, (4, 3), (3,), 2, kind=Finetuned)
            },
            name="a_model_that_overrides_train",
            title="A layer that the model's own `train` keeps in evaluation mode stays there in training.",
        )
    ],
)


def expect_modes(answer, model, train, val, layers=("0.1", "0.3"), epochs=3):
    """Fail unless these layers of `model` run in the right mode at each batch."""
    plan = [(False, "a validation batch before the first epoch")] * len(val)
    for epoch in range(1, epochs + 1):
        plan += [(True, f"a training batch of epoch {epoch}")] * len(train)
        plan += [(False, f"a validation batch after epoch {epoch}")] * len(val)
    logs = {model.get_submodule(name): [] for name in layers}
    for layer, log in logs.items():
        layer.register_forward_hook(lambda m, *_, log=log: log.append(m.training))
    answer.fit(model, F.mse_loss, sgd(model), train, val, epochs)
    for layer, log in logs.items():
        kind = type(layer).__name__
        for yours, (right, where) in zip(log, plan, strict=False):
            runs = "training" if yours else "evaluation"
            expect_that(yours == right, f"the {kind} runs in {runs} mode for {where}")
        expect_equal(len(log), len(plan), f"the number of batches that run through the {kind}")


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_modes_at_each_batch(answer, gen, training):
    """Every layer trains in training mode and validates in evaluation mode, in every epoch."""
    model = network(gen, p=0.5).train(training)
    expect_modes(answer, model, batches(gen, 4, 3), batches(gen, 5, 2))


@pytest.mark.fine
@pytest.mark.parametrize("epochs", [0, 2])
def test_evaluation_mode_at_the_end(answer, gen, epochs):
    """Afterwards every layer is in evaluation mode."""
    model = network(gen)
    answer.fit(model, F.mse_loss, sgd(model), batches(gen, 4), batches(gen, 3), epochs)
    flags = [m.training for m in model.modules()]
    what = f"the training flag of each layer after fit(…, epochs={epochs})"
    expect_equal(flags, [False] * len(flags), what)


@pytest.mark.fine
def test_layers_in_other_modes(answer, gen):
    """Layers that come in another mode than the model are switched as well."""
    model = network(gen, p=0.5).eval()
    model[0][3].train()
    expect_modes(answer, model, batches(gen, 4, 3), batches(gen, 5, 2))


@pytest.mark.fine
def test_no_graph(answer, gen):
    """Validating records no graph."""
    model, recorded = network(gen), []
    model.register_forward_hook(lambda m, args, out: recorded.append((len(out), out.requires_grad)))
    answer.fit(model, F.mse_loss, sgd(model), batches(gen, 4), batches(gen, 3), 1)
    graphs = [graph for size, graph in recorded if size == 3]
    expect_that(not any(graphs), "a validation batch records a graph: `eval()` does not switch that off")
