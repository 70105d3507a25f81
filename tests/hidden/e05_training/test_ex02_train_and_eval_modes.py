"""What grades fit: the mode of every layer at every batch, weights and losses, models that override train."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_equal,
    expect_raises,
    expect_that,
    global_rng_untouched,
    modes_kept,
)

CALL = "fit(model, loss_fn, optimizer, train_batches, val_batches, epochs)"


def network(gen, p=0.5):
    """3 features, 4 hidden units with batch norm and dropout, 2 outputs."""
    hidden = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(p))
    model = nn.Sequential(hidden, nn.Linear(4, 2)).double()
    with torch.no_grad():
        for w in model.parameters():
            w.copy_(torch.randn(w.shape, generator=gen))
    return model


def batches(gen, *sizes):
    return [
        (torch.randn(n, 3, generator=gen).double(), torch.randn(n, 2, generator=gen).double()) for n in sizes
    ]


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)


def written_out(model, optimizer, train, val, epochs, loss_fn=F.mse_loss):
    """The losses, and per batch: its size, the mode, and whether a graph is recorded."""
    history, log = [], []
    for epoch in range(epochs + 1):
        if epoch > 0:
            model.train()
            for inputs, targets in train:
                log.append((len(targets), True, True))
                optimizer.zero_grad()
                loss_fn(model(inputs), targets).backward()
                optimizer.step()
        model.eval()
        total = 0.0
        for inputs, targets in val:
            log.append((len(targets), False, False))
            with torch.no_grad():
                total += loss_fn(model(inputs), targets).item() * len(targets)
        history.append(total / sum(len(targets) for _, targets in val))
    return history, log


def expect_history(yours, wanted, call):
    expect_equal(len(yours), len(wanted), f"the number of losses from {call}")
    for number, (loss, right) in enumerate(zip(yours, wanted, strict=True)):
        expect_equal(type(loss).__name__, "float", f"the type of loss {number} from {call}")
        expect_that(
            math.isclose(loss, right, rel_tol=1e-9),
            f"wrong validation loss after epoch {number} of {call}",
            yours=f"{loss:.12g}",
            wanted=f"{right:.12g}",
        )


def expect_state(model, twin, when):
    for name, right in twin.state_dict().items():
        expect_close(model.state_dict()[name], right, f"{name} after {when}", ulps=1e4, scale=1.0)


def watched(model, names=("0", "0.1", "0.3", "1")):
    """Logs, for each layer named, the batch size, the mode it runs in, and whether a graph is recorded."""
    logs = {name: [] for name in names}
    for name, log in logs.items():
        model.get_submodule(name).register_forward_hook(
            lambda m, args, out, log=log: log.append((len(out), m.training, torch.is_grad_enabled()))
        )
    return logs


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_modes_at_each_batch(answer, gen, training):
    """Every layer trains in training mode and validates in evaluation mode, in every epoch."""
    model, train, val = network(gen), batches(gen, 4, 3), batches(gen, 5, 2)
    _, wanted = written_out(copy.deepcopy(model), sgd(network(gen)), train, val, 3)
    model.train(training)
    logs = watched(model)
    answer.fit(model, F.mse_loss, sgd(model), train, val, 3)
    for name, log in logs.items():
        layer = type(model.get_submodule(name)).__name__
        for index, (yours, right) in enumerate(zip(log, wanted, strict=False)):
            kind = "training" if right[1] else "validation"
            where = f"batch {index} ({kind}) at the {layer}"
            expect_equal(yours[0], right[0], f"the number of examples in {where}")
            expect_equal(yours[1], right[1], f"the training flag for {where}")
            expect_equal(yours[2], right[2], f"whether a graph is recorded for {where}")
        expect_equal(len(log), len(wanted), f"the number of batches that run through the {layer}")


@pytest.mark.parametrize("mixed", [False, True], ids=["eval", "mixed"])
def test_weights_and_losses(answer, gen, mixed):
    """Weights, statistics and losses are those of a loop that is written out, with uneven batches."""
    model, train, val = network(gen, p=0.0), batches(gen, 4, 3, 2), batches(gen, 5, 5, 1)
    twin = copy.deepcopy(model)
    halved = lambda out, targets: F.mse_loss(out, targets / 2)  # noqa: E731  (its arguments cannot be swapped)
    history, _ = written_out(twin, sgd(twin), train, val, 3, halved)
    model.eval()
    model[0][1].train(mixed)  # a layer in another mode than the model says
    yours = answer.fit(model, halved, sgd(model), train, val, 3)
    expect_history(yours, history, "fit(…, epochs=3)")
    expect_state(model, twin, "three epochs")


def test_old_gradients(answer, gen):
    """Gradients from before have no influence, and validation adds none."""
    model, train, val = network(gen, p=0.0), batches(gen, 4), batches(gen, 3)
    twin = copy.deepcopy(model)
    written_out(twin, sgd(twin), train, val, 1)
    scale = nn.Parameter(torch.ones(2).double())  # loss_fn holds it, not the model
    for p in [*model.parameters(), scale]:
        p.grad = torch.full_like(p, 5.0)
    optimizer = torch.optim.SGD([{"params": model.parameters()}, {"params": [scale], "lr": 1.0}], lr=0.1)
    recorded = []

    def loss_fn(out, targets):
        loss = F.mse_loss(out, targets) + 0 * scale.sum()
        recorded.append(loss.requires_grad)
        return loss

    answer.fit(model, loss_fn, optimizer, train, val, 1)
    call = "whether a graph is recorded before, in and after an epoch, where loss_fn holds a parameter"
    expect_equal(recorded, [False, True, False], call)
    expect_state(model, twin, "an epoch with old gradients")
    wanted = torch.ones(2).double()
    expect_equal(scale.detach(), wanted, "a parameter with old gradients that loss_fn holds")


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_no_epochs(answer, gen, training):
    """With 0 epochs the model is measured once, stays as it is, and is in evaluation mode afterwards."""
    model, train, val = network(gen), batches(gen, 4), batches(gen, 3, 2)
    twin = copy.deepcopy(model)
    history, _ = written_out(twin, sgd(twin), train, val, 0)
    model.train(training)
    yours = answer.fit(model, F.mse_loss, sgd(model), train, val, 0)
    expect_history(yours, history, "fit(…, epochs=0)")
    expect_state(model, twin, "fit(…, epochs=0)")
    flags = [m.training for m in model.modules()]
    expect_equal(flags, [False] * len(flags), "the training flag of each layer after fit(…, epochs=0)")


@pytest.mark.parametrize("epochs", [1, 2])
def test_evaluation_mode_at_the_end(answer, gen, epochs):
    """Afterwards every layer is in evaluation mode, whatever the losses were: each batch had its step."""
    model, steps = network(gen), []
    optimizer, bad = sgd(model), lambda out, targets: F.mse_loss(out, targets) * math.nan
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    yours = answer.fit(model, bad, optimizer, batches(gen, 4), batches(gen, 3), epochs)
    said = [str(loss) for loss in yours]
    expect_equal(said, ["nan"] * (epochs + 1), "the losses from fit(…), where each is NaN")
    expect_equal(len(steps), epochs, "the steps of the optimizer in fit(…), where the loss is NaN")
    some = lambda out, targets: F.mse_loss(out, targets) * (math.nan if len(targets) == 3 else 1.0)  # noqa: E731
    model = network(gen)
    (loss,) = answer.fit(model, some, sgd(model), [], batches(gen, 4, 3, 2), 0)
    told = "fit(…, epochs=0) leaves out a validation batch whose loss is NaN"
    expect_that(math.isnan(loss), told, yours=loss, wanted="NaN")
    flags = [m.training for m in model.modules()]
    expect_equal(flags, [False] * len(flags), "the training flag of each layer after fit(…)")


def test_no_early_stop(answer, gen):
    """All epochs are trained where the validation loss rises, and what is frozen stays so."""
    model, (val,) = network(gen, p=0.0), batches(gen, 4)
    train = [(val[0], val[1] + 1e3)]
    model[1].bias.requires_grad_(False)
    required = [p.requires_grad for p in model.parameters()]
    twin = copy.deepcopy(model)
    history, _ = written_out(twin, sgd(twin), train, [val], 8)
    yours = answer.fit(model, F.mse_loss, sgd(model), train, [val], 8)
    now = [p.requires_grad for p in model.parameters()]
    expect_equal(now, required, "requires_grad of the parameters after fit(…)")
    expect_history(yours, history, "fit(…, epochs=8), where the validation loss rises")
    expect_state(model, twin, "eight epochs in which the validation loss rises")


class Finetuned(nn.Module):
    """One batch norm is frozen, the dropout never off; outputs are doubled in evaluation mode."""

    def __init__(self, gen):
        super().__init__()
        self.parts, self.factor = network(gen, p=0.0), 1.0

    def train(self, mode=True):
        super().train(mode)
        self.parts[0][1].eval()
        self.parts[0][3].train()
        self.factor = 1.0 if mode else 2.0
        return self

    def forward(self, x):
        return self.parts(x) * self.factor


def test_a_model_that_overrides_train(answer, gen):
    """A layer that the model's own `train` keeps in evaluation mode stays there in training."""
    model, train, val = Finetuned(gen), batches(gen, 4, 1), batches(gen, 3)  # one row: no skipping
    model.train()
    twin = copy.deepcopy(model)
    history, _ = written_out(twin, sgd(twin), train, val, 2)
    logs = watched(model.parts, names=("0.1", "0.3"))
    yours = answer.fit(model, F.mse_loss, sgd(model), train, val, 2)
    modes = [mode for _, mode, _ in logs["0.1"]]
    expect_equal(modes, [False] * len(modes), "the training flag of the frozen batch norm at each batch")
    expect_equal(model.factor, 2.0, "what the model's own `train(False)` sets, after fit(…)")
    modes = [mode for _, mode, _ in logs["0.3"]]
    what = "the training flag, at each batch, of a dropout that the model's own `train` never switches off"
    expect_equal(modes, [True] * len(modes), what)
    expect_history(yours, history, "fit(…, epochs=2) with a frozen batch norm")
    expect_state(model, twin, "two epochs with a frozen batch norm")


def test_validation_changes_nothing(answer, gen):
    """Validation leaves no trace in weights, statistics and random streams; after an error graphs go on."""
    model, val = network(gen), batches(gen, 3, 4)
    before = {name: t.clone() for name, t in model.state_dict().items()}
    with global_rng_untouched("fit(…) without training batches"):
        answer.fit(model, F.mse_loss, sgd(model), [], val, 2)
    for name, was in before.items():
        expect_equal(model.state_dict()[name], was, f"{name} after fit(…) without training batches")
    none = lambda out, targets: 1 / 0  # noqa: E731
    for recorded in (True, False):
        when = "" if recorded else " under no_grad"
        with torch.set_grad_enabled(recorded), modes_kept(f"an error in validation{when}"):
            raising = lambda: answer.fit(model, none, sgd(model), [], val, 1)  # noqa: E731
            expect_raises(ZeroDivisionError, raising, f"fit(…){when}")


class Shuffled:
    """Another order each time that it is gone through."""

    def __init__(self, batches):
        self.batches, self.rounds = batches, 0

    def __iter__(self):
        self.rounds += 1
        return iter(self.batches[self.rounds :] + self.batches[: self.rounds])


def test_loaders(answer, gen):
    """A loader is gone through anew in each epoch: it may give another order."""
    model, train, val = network(gen, p=0.0), batches(gen, 4, 3, 2, 5, 3), batches(gen, 3, 1, 4, 2)
    twin = copy.deepcopy(model)
    history, _ = written_out(twin, sgd(twin), Shuffled(train), Shuffled(val), 3)
    yours = answer.fit(model, F.mse_loss, sgd(model), Shuffled(train), Shuffled(val), 3)
    expect_history(yours, history, "fit(…, epochs=3) with a loader that shuffles")
    expect_state(model, twin, "three epochs of a loader that shuffles")


class LastStep(nn.Module):
    """Reads sequences, with the time first."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x.mean(0))


def test_time_first(answer, gen):
    """The targets say how many examples a batch has, also where the inputs have the time first."""
    model = LastStep(network(gen, p=0.0))
    sizes = [(4, 2), (2, 5), (7, 3)]
    train, val = (
        [
            (torch.randn(t, n, 3, generator=gen).double(), torch.randn(n, 2, generator=gen).double())
            for t, n in s
        ]
        for s in (sizes, [(5, 1), (1, 4), (3, 2)])
    )
    twin = copy.deepcopy(model)
    history, _ = written_out(twin, sgd(twin), train, val, 1)
    mine = copy.deepcopy(model)
    yours = answer.fit(mine, F.mse_loss, sgd(mine), train, val, 1)
    expect_history(yours, history, "fit(…, epochs=1) with inputs (time, batch, features)")
    val = [(x, y[..., None].repeat(1, 1, k)) for k, (x, y) in enumerate(val, start=1)]
    first = lambda out, targets: F.mse_loss(out, targets[..., 0] if targets.dim() > 2 else targets)  # noqa: E731
    yours = answer.fit(model, first, sgd(model), train, val, 1)
    expect_history(yours, history, "fit(…, epochs=1) with targets (batch, labels, 1 to 3)")


def oracle(answer, gen):
    model, train, val = network(gen, p=0.0), batches(gen, 4, 3, 2), batches(gen, 5, 1)
    history = answer.fit(model, F.mse_loss, sgd(model), train, val, 2)
    return [history, [m.training for m in model.modules()], dict(model.state_dict())]
