"""What grades memory_leak: graphs, hooks, what is reported; memory, window, errors, reports of their own."""

import copy
import gc
import weakref
from collections import deque

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.checks import (
    expect_close,
    expect_equal,
    expect_number,
    expect_that,
    held_bytes,
    hooks_of,
    hooks_of_all,
)


def network(gen):
    """3 features, 4 hidden units, 2 outputs, an activation in place."""
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Sequential(nn.Linear(4, 2), nn.Tanh()))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model.double()


def batch_of(gen, n):
    return torch.randn(n, 3, generator=gen).double(), torch.randn(n, 2, generator=gen).double()


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)


def activity_of(model, x, size=torch.abs):
    """The means of |output|, layer by layer, of the network above."""
    first = F.linear(x, model[0].weight, model[0].bias)
    last = F.linear(first.relu(), model[2][0].weight, model[2][0].bias)
    outputs = {"0": first, "1": first.relu(), "2.0": last, "2.1": last.tanh()}
    return {name: size(out).mean().item() for name, out in outputs.items()}


def written_out(model, batches):
    """What is reported after each step, without a window, by a loop that keeps nothing else."""
    optimizer, losses, rows, smoothed, told = sgd(model), [], [], None, []
    for x, y in batches:
        active = activity_of(model, x)
        outputs = model(x)
        loss = F.mse_loss(outputs, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses, rows = [*losses, loss.item()], [*rows, outputs[0].detach().clone()]
        smoothed = losses[0] if smoothed is None else 0.9 * smoothed + 0.1 * losses[-1]
        told.append({"losses": losses, "smoothed": smoothed, "activity": active, "samples": rows})
    return told


def expect_part(name, yours, wanted, window, when):
    """One part of a report is what the loop says."""
    what = f'report()["{name}"] {when}'
    if name == "smoothed":
        expect_number(yours, wanted, what, rtol=1e-9)
    elif name == "activity":
        expect_equal(sorted(yours), sorted(wanted), f"the layers in {what}")
        late = {"the next layer has written over this output: take its mean at once": lambda: wanted["1"]}
        for layer, right in wanted.items():
            expect_number(yours[layer], right, f"{what}, layer {layer!r}", suspects=late)
    else:
        expect_equal(type(yours).__name__, "list", f"the type of {what}")
        every = {"all of them are kept: `window` is ignored": lambda: len(wanted)}
        expect_equal(len(yours), len(wanted[-window:]), f"the length of {what}", suspects=every)
        for item, right in zip(yours, wanted[-window:], strict=True):
            if name == "losses":
                expect_number(item, right, f"a number in {what}", rtol=1e-9)
            else:
                expect_close(item, right, f"a row of {what}")
                expect_that(not item.requires_grad, f"a row of {what} requires a gradient")


@pytest.mark.parametrize("name", ["losses", "smoothed", "activity", "samples"])
def test_report(answer, gen, name):
    """The report shows the latest losses and samples, the smoothed loss, and the last step's activity."""
    model, batches = network(gen), [batch_of(gen, n) for n in (3, 1, 4, 2, 5)]
    told = written_out(copy.deepcopy(model), batches)
    for window in (3, 1):
        mine = copy.deepcopy(model)
        trainer = answer.Trainer(mine, F.mse_loss, sgd(mine), window)
        for number, (batch, wanted) in enumerate(zip(batches, told, strict=True)):
            trainer.step(*batch)
            when = f"after step {number} with window={window}"
            expect_part(name, trainer.report()[name], wanted[name], window, when)


def test_training(answer, gen):
    """The steps return their losses and move the weights as before."""
    model, batches = network(gen), [batch_of(gen, n) for n in (3, 1, 4)]
    twin = copy.deepcopy(model)
    losses = written_out(twin, batches)[-1]["losses"]
    trainer = answer.Trainer(model, F.mse_loss, sgd(model))
    for number, (batch, loss) in enumerate(zip(batches, losses, strict=True)):
        expect_number(trainer.step(*batch), loss, f"what step {number} returns", rtol=1e-9)
    for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
        expect_close(p.detach(), right.detach(), f"{name} after three steps", ulps=1e4, scale=1.0)


class Sometimes(nn.Module):
    """Calls its layer in a batch of two rows or more, and leaves it out in one of a single row."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x) if len(x) > 1 else x


def activities(answer, model, batches):
    """The activities that are reported after each step."""
    trainer = answer.Trainer(model, F.mse_loss, sgd(model))
    told = []
    for batch in batches:
        trainer.step(*batch)
        told.append(trainer.report()["activity"])
    return told


def test_layers_of_the_last_step(answer, gen):
    """The activity is that of the last step: a layer that it did not call is not in it."""
    model = network(gen)
    model[2][1] = Sometimes(model[2][1])
    told = activities(answer, model, [batch_of(gen, n) for n in (3, 1, 2)])
    for number, yours in enumerate(told):
        wanted = ["0", "1", "2.0"] + ["2.1.layer"] * (number != 1)
        stale = number == 1 and "2.1.layer" in yours
        likely = "`self.activity` still holds what an earlier step called" if stale else ""
        what = f'wrong layers in report()["activity"] after step {number}, which called {len(wanted)} of 4'
        expect_that(sorted(yours) == wanted, what, yours=sorted(yours), wanted=wanted, likely=likely)


def tensors_in(trainer):
    """The tensors that a trainer keeps in its attributes, and in lists and dicts there, by attribute."""
    found, todo = [], [(f"self.{name}", value) for name, value in getattr(trainer, "__dict__", {}).items()]
    while todo:
        name, value = todo.pop()
        if isinstance(value, Tensor):
            found.append((name, value))
        elif isinstance(value, (list, tuple, deque, dict)):
            todo += [(name, part) for part in (value.values() if isinstance(value, dict) else value)]
    return found


class Token:
    """Hangs on a node of the graph, and is alive as long as the node is."""

    def __call__(self, *gradients):
        return None


class Watch:
    """Which graphs, and which tensors, of the steps are alive."""

    def __init__(self, model):
        self.graphs, self.tensors = [], []
        for name, layer in model.named_modules():
            layer.register_forward_hook(lambda m, args, out, name=name: self.see(f"output of {name!r}", out))

    def see(self, what, tensor):
        self.tensors.append((what, weakref.ref(tensor)))
        if tensor.grad_fn is not None:
            token = Token()
            tensor.grad_fn.register_hook(token)
            self.graphs.append((f"graph at the {what}", weakref.ref(token)))

    def loss(self, outputs, targets):
        result = F.mse_loss(outputs, targets)
        self.see("loss", result)
        return result

    def expect_nothing(self, refs, when, likely=""):
        gc.collect()  # what only hangs in a reference cycle is not kept
        alive = [what for what, ref in refs if ref() is not None]
        told = ", ".join(alive[:3]) + (f" and {len(alive) - 3} more" if len(alive) > 3 else "")
        cause = {"likely": likely} if likely else {}
        expect_that(not alive, f"something of a batch is alive {when}", yours=told, wanted="nothing", **cause)


def test_no_graph_is_alive(answer, gen):
    """After a step no graph of it is alive."""
    model = network(gen)
    watch = Watch(model)
    trainer = answer.Trainer(model, watch.loss, sgd(model), window=2)
    for number in range(3):
        trainer.step(*batch_of(gen, 3))
        holders = sorted({name for name, tensor in tensors_in(trainer) if tensor.grad_fn is not None})
        likely = (
            f"in {' and '.join(holders)} are tensors with their graphs: `item()`, or `detach()`"
            if holders
            else ""
        )
        watch.expect_nothing(watch.graphs, f"after step {number}", likely)


def test_hooks_do_not_grow(answer, gen):
    """The model does not get more hooks from step to step."""
    model, counts = network(gen), []
    trainer = answer.Trainer(model, F.mse_loss, sgd(model))
    for _ in range(3):
        trainer.step(*batch_of(gen, 2))
        counts.append(len(everything_on(model)))
    likely = "each step registers its hooks: remove them by their handles, or register once"
    expect_that(counts[2] <= counts[0], "the hooks grow in number", yours=str(counts), likely=likely)


@pytest.mark.fine
def test_nothing_of_a_batch_is_alive(answer, gen):
    """After a step no input, target, output, activation or loss is alive."""
    model = network(gen)
    watch = Watch(model)
    trainer = answer.Trainer(model, watch.loss, sgd(model), window=2)
    for number in range(3):
        x, y = batch_of(gen, 3)
        watch.see("input", x)
        watch.see("target", y)
        trainer.step(x, y)
        del x, y
        watch.expect_nothing(watch.tensors, f"after step {number}")


def things(trainer):
    """How many things a trainer holds in lists and dicts of its own."""
    values = list(getattr(trainer, "__dict__", {}).values())
    values += [getattr(trainer, name, None) for name in getattr(trainer, "__slots__", ())]
    return sum(len(value) for value in values if isinstance(value, (list, tuple, set, deque, dict)))


def held_after(answer, gen, steps, n):
    """The bytes and things that are held after some steps on n rows, and the attributes with large memory."""
    model = network(gen)
    trainer = answer.Trainer(model, F.mse_loss, sgd(model), window=2)

    def run():
        for _ in range(steps):
            trainer.step(*batch_of(gen, n))
        gc.collect()

    held = held_bytes(run)
    large = {name for name, t in tensors_in(trainer) if t.untyped_storage().nbytes() > 100}
    return held, things(trainer), " and ".join(sorted(large))


@pytest.mark.fine
def test_memory_of_a_batch(answer, gen):
    """What is held has the same size for larger batches."""
    (small, _, _), (large, _, holders) = held_after(answer, gen, 6, 2), held_after(answer, gen, 6, 500)
    expect_that(
        large <= small + 200,
        "what is held between steps grows with the size of a batch",
        yours=f"{small} bytes for 2 rows, {large} bytes for 500",
        wanted="the same",
        likely=f"what is in {holders or 'a list'} shares the memory of a whole batch: `clone()`, or a number",
    )


@pytest.mark.fine
def test_number_of_steps(answer, gen):
    """What is held does not grow with the number of steps."""
    (few, less, _), (many, more, _) = held_after(answer, gen, 6, 2), held_after(answer, gen, 50, 2)
    expect_that(
        many <= few + 200 and more <= less + 20,
        "what is held grows with the number of steps, though only two are shown",
        yours=f"{few} bytes and {less} things after 6 steps, {many} bytes and {more} things after 50",
        wanted="the same",
        likely="lists grow for ever: `deque(maxlen=window)` lets go of the oldest",
    )


def everything_on(model):
    """All hooks on modules and parameters, and those for all modules."""
    parts = [*model.named_modules(), *model.named_parameters()]
    return [(name, *hook) for name, part in parts for hook in hooks_of(part)] + hooks_of_all()


def expect_hooks(model, before, when):
    found = everything_on(model)
    gone, more = [h for h in before if h not in found], [h for h in found if h not in before]
    expect_that(not gone, f"hooks of others are gone from the model {when}", yours=str(gone[:1]))
    expect_that(not more, f"hooks are left on the model {when}", yours=str(more[:1]), wanted="none")


@pytest.mark.fine
def test_no_hook_is_left(answer, gen):
    """Between steps the model has the hooks that it had, those of others too."""
    model, calls = network(gen), []
    model[0].register_forward_hook(lambda *_: calls.append("forward"))
    before = everything_on(model)
    trainer = answer.Trainer(model, F.mse_loss, sgd(model))
    for number in range(2):
        expect_hooks(model, before, f"before step {number}")
        trainer.step(*batch_of(gen, 2))
    expect_hooks(model, before, "after two steps")
    expect_equal(len(calls), 2, "the calls of somebody's hook in two steps")


class Fails(nn.Module):
    """Raises when it is told to."""

    fails = False

    def forward(self, x):
        if self.fails:
            raise RuntimeError("out of patience")
        return x * 1.0


@pytest.mark.fine
@pytest.mark.parametrize("where", ["model", "loss", "optimizer"])
def test_a_step_that_raises(answer, gen, where):
    """A step that raises leaves no hook and nothing of its batch, and is not in the report."""
    model, part, fails = network(gen), Fails(), []
    model.insert(1, part)
    before, watch = everything_on(model), Watch(nn.Identity())

    def maybe(name):
        if name in fails:
            raise RuntimeError("out of patience")

    def loss_fn(outputs, targets):
        watch.see("output", outputs)
        maybe("loss")
        return F.mse_loss(outputs, targets)

    optimizer = sgd(model)
    optimizer.register_step_pre_hook(lambda *_: maybe("optimizer"))
    trainer = answer.Trainer(model, loss_fn, optimizer)
    trainer.step(*batch_of(gen, 2))
    wanted = {name: part for name, part in trainer.report().items() if name != "activity"}
    fails.append(where)
    part.fails = where == "model"
    message = ""
    try:
        trainer.step(*batch_of(gen, 2))
    except RuntimeError as error:
        message = str(error)
    expect_equal(message, "out of patience", f"the error of a step where the {where} raises")
    expect_hooks(model, before, f"after the {where} raised")
    model.zero_grad()
    watch.expect_nothing(watch.tensors + watch.graphs, f"after the {where} raised")
    yours = {name: part for name, part in trainer.report().items() if name != "activity"}
    expect_equal(yours, wanted, f"report() after the {where} raised")


@pytest.mark.fine
def test_reports_are_the_callers(answer, gen):
    """A report may be changed, and stays as it is when steps follow."""
    model = network(gen)
    trainer = answer.Trainer(model, F.mse_loss, sgd(model))
    nothing = {"losses": [], "smoothed": None, "activity": {}, "samples": []}
    expect_equal(trainer.report(), nothing, "report() before the first step")
    trainer.step(*batch_of(gen, 2))
    first, again = trainer.report(), trainer.report()
    wanted = copy.deepcopy(first)
    again["losses"].append(0.0)
    again["activity"].clear()
    again["samples"][0].zero_()
    again["samples"].clear()
    expect_equal(trainer.report(), wanted, "report() after an earlier report was changed")
    trainer.step(*batch_of(gen, 2))
    expect_equal(first, wanted, "an earlier report after one more step")


def oracle(answer, gen):
    model, batches = network(gen), [batch_of(gen, n) for n in (3, 1, 4)]

    def of(*names):
        def reported():
            mine = copy.deepcopy(model)
            trainer = answer.Trainer(mine, F.mse_loss, sgd(mine), window=2)
            results = []
            for batch in batches:
                results.append(trainer.step(*batch))
                report = trainer.report()
                results.append([report[name] for name in names])
            return [results, [p.detach() for p in mine.parameters()]]

        return reported

    return {
        "losses and their smoothed value": of("losses", "smoothed"),
        "the layers' activity": of("activity"),
        "samples": of("samples"),
    }
