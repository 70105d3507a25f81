"""What grades memory_leak: what is alive between steps, bytes, hooks, errors, and what is reported."""

import copy
import gc
import math
import weakref
from collections import deque

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that, held_bytes, hooks_of, hooks_of_all


def network(gen):
    """3 features, 4 hidden units, 2 outputs, an activation in place."""
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Sequential(nn.Linear(4, 2), nn.Tanh()))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model.double()


def batch_of(gen, n):
    return torch.randn(n, 3, generator=gen).double(), torch.randn(n, 2, generator=gen).double()


def sgd(model, lr=0.1):
    return torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)


def expect_floats(yours, wanted, what):
    expect_equal(type(yours).__name__, "list", f"the type of {what}")
    expect_equal([type(x).__name__ for x in yours], ["float"] * len(wanted), f"the types in {what}")
    for x, right in zip(yours, wanted, strict=True):
        expect_that(math.isclose(x, right, rel_tol=1e-9), f"wrong {what}", yours=x, wanted=right)


def expect_activity(yours, wanted, what):
    expect_equal(sorted(yours), sorted(wanted), f"the layers in {what}")
    for name, right in wanted.items():
        expect_equal(type(yours[name]).__name__, "float", f"the type of {what}[{name!r}]")
        close = math.isclose(yours[name], right, rel_tol=1e-6, abs_tol=1e-9)
        expect_that(close, f"wrong {what}[{name!r}]", yours=yours[name], wanted=right)


def activity_of(model, x):
    """The means of |output|, layer by layer, of the network above."""
    first = F.linear(x, model[0].weight, model[0].bias)
    last = F.linear(first.relu(), model[2][0].weight, model[2][0].bias)
    outputs = {"0": first, "1": first.relu(), "2.0": last, "2.1": last.tanh()}
    return {name: out.abs().mean().item() for name, out in outputs.items()}


@pytest.mark.parametrize("window", [1, 3, 100])
def test_report(answer, gen, window):
    """The report shows the latest losses and samples, the smoothed loss, and the last step's activity."""
    model = network(gen)
    twin = copy.deepcopy(model)
    optimizer, losses, rows, smoothed = sgd(twin), [], [], None
    trainer = answer.Trainer(model, F.mse_loss, sgd(model), window)
    for number, n in enumerate((3, 1, 4, 2, 5)):
        x, y = batch_of(gen, n)
        active = activity_of(twin, x)
        outputs = twin(x)
        loss = F.mse_loss(outputs, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses, rows = [*losses, loss.item()], [*rows, outputs[0].detach().clone()]
        smoothed = losses[0] if smoothed is None else 0.9 * smoothed + 0.1 * losses[-1]
        expect_floats([trainer.step(x, y)], losses[-1:], "results of step")
        report, when = trainer.report(), f"after {number + 1} steps with window={window}"
        expect_floats(report["losses"], losses[-window:], f'report()["losses"] {when}')
        expect_floats([report["smoothed"]], [smoothed], f'report()["smoothed"] {when}')
        expect_activity(report["activity"], active, f'report()["activity"] {when}')
        expect_equal(len(report["samples"]), len(rows[-window:]), f'the length of report()["samples"] {when}')
        for row, right in zip(report["samples"], rows[-window:], strict=True):
            expect_close(row, right, f'a row of report()["samples"] {when}')
            expect_that(not row.requires_grad, 'a row of report()["samples"] requires a gradient')
    for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
        expect_close(p.detach(), right.detach(), f"{name} after five steps", ulps=1e4, scale=1.0)


class Token:
    """Hangs on a node of the graph, and is alive as long as the node is."""

    def __call__(self, *gradients):
        return None


class Watch:
    """Which tensors and graphs of the steps are alive."""

    def __init__(self, model):
        self.refs = []
        for name, layer in model.named_modules():
            layer.register_forward_hook(lambda m, args, out, name=name: self.see(f"output of {name!r}", out))

    def see(self, what, tensor):
        self.refs.append((what, weakref.ref(tensor)))
        if tensor.grad_fn is not None:
            token = Token()
            tensor.grad_fn.register_hook(token)
            self.refs.append((f"graph at the {what}", weakref.ref(token)))

    def loss(self, outputs, targets):
        result = F.mse_loss(outputs, targets)
        self.see("loss", result)
        return result

    def expect_nothing(self, when):
        alive = [what for what, ref in self.refs if ref() is not None]
        if alive:
            gc.collect()  # what only hangs in a reference cycle is not kept
            alive = [what for what, ref in self.refs if ref() is not None]
        expect_that(
            not alive,
            f"tensors of a batch are alive {when}",
            yours=", ".join(alive[:4]) + (f" and {len(alive) - 4} more" if len(alive) > 4 else ""),
            wanted="none of them",
        )


def test_nothing_of_a_batch_is_alive(answer, gen):
    """Between steps no input, target, output, activation, loss or graph is alive."""
    model = network(gen)
    watch = Watch(model)
    trainer = answer.Trainer(model, watch.loss, sgd(model), window=2)
    for number in range(4):
        x, y = batch_of(gen, 3)
        watch.see("input", x)
        watch.see("target", y)
        trainer.step(x, y)
        del x, y
        watch.expect_nothing(f"after step {number}")
        report = trainer.report()
        watch.expect_nothing("after report()")
        del report
    for name, p in model.named_parameters():
        expect_that(
            p.grad is None or not p.grad.requires_grad, f"the gradient of {name} carries a graph of its own"
        )


def kept(trainer, answer):
    """How many things the trainer, its class and its file hold, those of the caller left out."""
    attributes = {**getattr(trainer, "__dict__", {})}
    attributes |= {name: getattr(trainer, name, None) for name in getattr(trainer, "__slots__", ())}
    seen, count, todo = set(), 0, list(attributes.values())
    for shared in (vars(answer), vars(type(trainer))):
        todo += [value for name, value in shared.items() if not name.startswith("__")]
    while todo:
        item = todo.pop()
        if id(item) in seen or isinstance(item, (nn.Module, torch.optim.Optimizer, type)):
            continue
        count += item.numel() if isinstance(item, torch.Tensor) else 1
        if isinstance(item, (list, tuple, set, frozenset, deque, dict)):
            seen.add(id(item))
            todo += item.values() if isinstance(item, dict) else item
        elif type(item).__module__ == answer.__name__ and hasattr(item, "__dict__"):
            seen.add(id(item))
            todo += vars(item).values()
    return count


def bytes_after(answer, gen, steps, n, window=2):
    model = network(gen)
    # what mse_loss returns is one number in the memory of a whole batch
    trainer = answer.Trainer(model, F.mse_loss, sgd(model), window)

    def run():
        for _ in range(steps):
            trainer.step(*batch_of(gen, n))
        gc.collect()

    return held_bytes(run), kept(trainer, answer)


def test_bytes_do_not_grow(answer, gen):
    """What is left after some steps has the same size for larger batches and for more steps."""
    small, few = bytes_after(answer, gen, 6, 2)
    large, wide = bytes_after(answer, gen, 6, 500)
    expect_that(
        large <= small + 200,
        "what is left between steps grows with the size of a batch",
        yours=f"{small} bytes for 2 rows, {large} bytes for 500",
        wanted="the same",
    )
    expect_that(
        wide <= few + 20,
        "the trainer holds more things after larger batches",
        yours=f"{few} things for 2 rows, {wide} things for 500",
        wanted="the same number",
    )
    longer, many = bytes_after(answer, gen, 50, 2)
    expect_that(
        longer <= small + 200,
        "what is left between steps grows with their number",
        yours=f"{small} bytes after 6 steps, {longer} bytes after 50",
        wanted="the same",
    )
    expect_that(
        many <= few + 20,
        "the trainer holds more and more, and shows only two steps",
        yours=f"{few} things after 6 steps, {many} after 50",
        wanted="the same number",
    )
    (_, full), (_, more) = (bytes_after(answer, gen, steps, 2, window=20) for steps in (20, 39))
    expect_that(
        more <= full + 20,
        "the trainer holds more than it shows with window=20",
        yours=f"{full} things after 20 steps, {more} after 39",
        wanted="the same number",
    )


def everything_on(model):
    """All hooks on modules and parameters, and those for all modules, and what else was put on them."""
    parts = [*model.named_modules(), *model.named_parameters()]
    found = [(name, *hook) for name, part in parts for hook in hooks_of(part)]
    found += [(name, attribute) for name, module in model.named_modules() for attribute in vars(module)]
    return found + hooks_of_all()


def expect_hooks(model, before, when):
    """The model carries the hooks of `before`, and no others."""
    found = everything_on(model)
    gone, more = (
        [each for each in one if each not in other] for one, other in ((before, found), (found, before))
    )
    wanted = "the model with the hooks that others have put there, and nothing else"
    expect_that(
        not gone,
        f"hooks of others are gone from the model {when}",
        yours=f"{gone[0]}" if gone else "",
        wanted=wanted,
    )
    expect_that(
        not more,
        f"hooks or attributes are left on the model {when}",
        yours=f"{more[0]}" if more else "",
        wanted=wanted,
    )
    expect_equal(found, before, f"the order of the hooks on the model {when}")


def test_no_hook_is_left(answer, gen):
    """Building the trainer and taking steps leave the model with the hooks that it had."""
    model, calls = network(gen), []
    model[0].register_forward_hook(lambda *_: calls.append("forward"))
    model[2].register_forward_pre_hook(lambda *_: calls.append("before"))
    model[0].weight.register_hook(lambda g: calls.append("gradient"))
    before = everything_on(model)
    trainer = answer.Trainer(model, F.mse_loss, sgd(model))
    for number in range(3):
        expect_hooks(model, before, f"before step {number}")
        trainer.step(*batch_of(gen, 2))
        trainer.report()
    expect_hooks(model, before, "after three steps")
    expect_equal(
        sorted(calls), ["before"] * 3 + ["forward"] * 3 + ["gradient"] * 3, "the calls of others' hooks"
    )


class Fails(nn.Module):
    """Raises when it is told to."""

    def __init__(self):
        super().__init__()
        self.fails = None

    def forward(self, x):
        if self.fails:
            raise self.fails("out of patience")
        return x * 1.0


@pytest.mark.parametrize("where", ["model", "interrupt", "loss", "backward", "optimizer"])
def test_a_step_that_raises(answer, gen, where):
    """A step that raises leaves no hook and nothing of its batch, and the next one is as good as any."""
    model, part = network(gen), Fails()
    model.insert(1, part)
    before = everything_on(model)
    failing = {"loss": False, "backward": False, "optimizer": False}
    watch, seen = Watch(copy.deepcopy(model)), []

    def maybe(name):
        if failing.get(name):
            raise RuntimeError("out of patience")

    def loss_fn(outputs, targets):
        watch.see("output", outputs)
        maybe("loss")
        if failing["backward"]:
            outputs.register_hook(lambda g: maybe("backward"))
        return F.mse_loss(outputs, targets)

    optimizer = sgd(model)
    optimizer.register_step_pre_hook(lambda *_: maybe("optimizer"))
    trainer = answer.Trainer(model, loss_fn, optimizer)
    seen.append(trainer.step(*batch_of(gen, 2)))
    part.fails = {"model": RuntimeError, "interrupt": KeyboardInterrupt}.get(where)
    if where in failing:
        failing[where] = True
    x, y = batch_of(gen, 2)
    watch.see("input", x)
    message = ""
    try:
        trainer.step(x, y)
    except (RuntimeError, KeyboardInterrupt) as error:
        message = str(error)
    del x, y
    expect_equal(message, "out of patience", f"the error of a step where the {where} raises")
    expect_hooks(model, before, f"after the {where} raised")
    model.zero_grad()
    watch.expect_nothing(f"after the {where} raised")
    expect_floats(trainer.report()["losses"], seen, f'report()["losses"] after the {where} raised')
    expect_equal(
        len(trainer.report()["samples"]), 1, f'the length of report()["samples"] after the {where} raised'
    )
    part.fails = None
    failing.update(dict.fromkeys(failing, False))
    seen.append(trainer.step(*batch_of(gen, 3)))
    expect_floats(
        trainer.report()["losses"], seen, f'report()["losses"] after the {where} raised and one more step'
    )


def test_smoothed_ignores_a_step_that_raised(answer, gen):
    """The smoothed loss is that of the steps that went well."""
    model = network(gen)
    numbers = iter([4.0, 9.0, 2.0])
    optimizer = sgd(model)
    trainer = answer.Trainer(model, lambda out, y: out.sum() * 0 + next(numbers), optimizer)
    trainer.step(*batch_of(gen, 2))
    handle = optimizer.register_step_pre_hook(lambda *_: [].pop())
    try:
        trainer.step(*batch_of(gen, 2))
    except IndexError:
        handle.remove()
    expect_floats([trainer.report()["smoothed"]], [4.0], 'report()["smoothed"] after a step that raised')
    trainer.step(*batch_of(gen, 2))
    expect_floats([trainer.report()["smoothed"]], [3.8], 'report()["smoothed"] after one more step')


class Odd(nn.Module):
    """One layer called twice, one never, one that returns a pair, and one under two names."""

    def __init__(self):
        super().__init__()
        self.twice = nn.Linear(3, 3, bias=False)
        self.never = nn.Linear(3, 3)
        self.pair = nn.GRU(3, 2, batch_first=True)
        self.also = self.twice

    def forward(self, x):
        out, _ = self.pair(self.also(self.twice(x))[:, None])
        return out[:, 0]


def test_layers_of_all_kinds(answer, gen):
    """Layers that ran twice count with the last call; those that did not run or return pairs are left out."""
    model = Odd().double()
    trainer = answer.Trainer(model, F.mse_loss, sgd(model, lr=0.0))
    x, y = batch_of(gen, 3)
    trainer.step(x, y)
    twice = (x @ model.twice.weight.T @ model.twice.weight.T).abs().mean().item()
    expect_activity(trainer.report()["activity"], {"twice": twice}, 'report()["activity"] of an odd model')
    alone = nn.Linear(3, 2).double()
    trainer = answer.Trainer(alone, F.mse_loss, sgd(alone, lr=0.0))
    trainer.step(x, y)
    wanted = {"": alone(x).abs().mean().item()}
    expect_activity(trainer.report()["activity"], wanted, 'report()["activity"] of a single layer')
    for bad in (math.inf, math.nan):
        broken = Scaled(torch.float32, squeeze=False)
        trainer = answer.Trainer(broken, lambda out, y: out.square().mean(), sgd(broken))
        trainer.step(torch.tensor([[bad], [1.0]], dtype=torch.float64), y)
        report = trainer.report()
        expect_equal(
            report["activity"], {"": bad}, f'report()["activity"] of a layer that returns {bad} and 1'
        )
        numbers = [*report["losses"], report["smoothed"]]
        expect_equal(numbers, [bad, bad], f"losses and smoothed in report() where the loss is {bad}")
        expect_that(not broken.scale.isfinite(), f"the optimizer takes no step where the loss is {bad}")
        dtype = report["samples"][0].dtype
        expect_equal(dtype, torch.float64, "the dtype of a sample where inputs are float64, weights float32")


def test_layers_that_change(answer, gen):
    """Each step watches the layers that are there then, and those that are gone leave no trace."""
    model = network(gen)
    trainer = answer.Trainer(model, F.mse_loss, sgd(model, lr=0.0))
    x, y = batch_of(gen, 3)
    trainer.step(x, y)
    old, model[2] = model[2], nn.Linear(4, 2).double()
    trainer.step(x, y)
    expect_equal(sorted(trainer.report()["activity"]), ["0", "1", "2"], "the layers after one was replaced")
    gone = weakref.ref(old)
    del old
    gc.collect()
    expect_that(gone() is None, "a layer that was taken out of the model is alive still")


def test_reports_are_the_callers(answer, gen):
    """A report may be changed, and stays as it is when steps follow; before the first step it is empty."""
    model = network(gen)
    trainer = answer.Trainer(model, F.mse_loss, sgd(model))
    other = answer.Trainer(model, F.mse_loss, sgd(model))
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
    expect_equal(other.report(), nothing, "report() of another trainer of the same model")


class Scaled(nn.Module):
    """Multiplies by one; with `squeeze`, the first column alone."""

    def __init__(self, dtype, squeeze):
        super().__init__()
        self.scale, self.squeeze = nn.Parameter(torch.ones((), dtype=dtype)), squeeze

    def forward(self, x):
        return (x[:, 0] if self.squeeze else x) * self.scale


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_dtypes_and_shapes(answer, gen, dtype):
    """Samples have the dtype and the shape of a row, with one dimension or with several."""
    for shape in ((4,), (3, 2, 5), (2, 1)):
        x = torch.randn(shape if len(shape) > 1 else (shape[0], 1), generator=gen).to(dtype)
        model = Scaled(dtype, squeeze=len(shape) == 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        trainer = answer.Trainer(model, lambda out, y: out.square().mean(), optimizer)
        result = trainer.step(x, x)
        row = trainer.report()["samples"][0]
        wanted = (x[:, 0] if len(shape) == 1 else x)[0].clone()
        expect_close(row, wanted, f'report()["samples"][0] of outputs of shape {shape} in {dtype}')
        expect_equal(type(result).__name__, "float", "the type of what step returns")
    model = Scaled(dtype, squeeze=False)
    trainer = answer.Trainer(model, lambda out, y: out.square().mean(), sgd(model, lr=0.0))
    texts = [torch.randn(2, length, 3, generator=gen).to(dtype) for length in (4, 7, 2)]
    for x in texts:
        trainer.step(x, x)
    rows = trainer.report()["samples"]
    expect_equal(rows, [x[0] for x in texts], f"samples of texts of other lengths in {dtype}")


def test_gradients_from_before(answer, gen):
    """A step takes the gradient of its own loss alone, whatever gradients the parameters have had."""
    model, factor = network(gen), nn.Parameter(torch.ones(()))  # the loss's own, as a learned temperature is
    x, y = batch_of(gen, 3)
    twin, wanted_factor = copy.deepcopy((model, factor))
    optimizer, wanted = sgd(model), sgd(twin)
    optimizer.add_param_group({"params": [factor]})
    wanted.add_param_group({"params": [wanted_factor]})
    trainer = answer.Trainer(model, lambda outputs, y: factor * F.mse_loss(outputs, y), optimizer)
    for _ in range(2):  # someone else's gradients come before the first step, and between two steps
        for p in (*model.parameters(), factor):
            p.grad = torch.ones_like(p)
        trainer.step(x, y)
        wanted.zero_grad()
        (wanted_factor * F.mse_loss(twin(x), y)).backward()
        wanted.step()
    parameters = {"a parameter of the loss": factor, **dict(model.named_parameters())}
    for (name, p), right in zip(parameters.items(), (wanted_factor, *twin.parameters()), strict=True):
        expect_close(p.detach(), right.detach(), f"{name} after two steps, where it had a gradient before")


def test_smoothed_from_zero(answer, gen):
    """A first loss of 0 counts like others in the smoothed loss."""
    model = network(gen)
    trainer = answer.Trainer(model, lambda out, y: out.sum() * 0.0 + y, sgd(model))
    x, _ = batch_of(gen, 2)
    for loss in (0.0, 1.0):
        trainer.step(x, torch.tensor(loss))
    expect_floats([trainer.report()["smoothed"]], [0.1], 'report()["smoothed"] after losses of 0 and 1')


def test_default_window(answer):
    """Without another word the report shows the latest 100 steps."""
    model, x = nn.Linear(1, 1), torch.ones(1, 1)
    trainer = answer.Trainer(model, lambda out, y: 0 * out.sum() + y, sgd(model))
    for number in range(102):
        trainer.step(x, torch.tensor(float(number)))
    losses = trainer.report()["losses"]
    expect_equal([len(losses), losses[0]], [100, 2.0], "the number of losses after 102 steps, and the first")


def test_called_once(answer, gen):
    """Each step runs model, loss and optimizer once, in the caller's mode, and leaves the mode alone."""
    for mode in (True, False):
        model, seen = network(gen).train(mode), []
        optimizer = sgd(model)
        model.register_forward_hook(lambda m, *_, seen=seen: seen.append(("model", m.training)))
        optimizer.register_step_post_hook(lambda *_, seen=seen: seen.append(("step", None)))

        def loss_fn(outputs, targets, seen=seen):
            seen.append(("loss", None))
            return F.mse_loss(outputs, targets)

        trainer = answer.Trainer(model, loss_fn, optimizer)
        trainer.step(*batch_of(gen, 2))
        trainer.report()
        expect_equal(seen, [("model", mode), ("loss", None), ("step", None)], "what a step runs")
        expect_equal([m.training for m in model.modules()], [mode] * 6, "the modes after a step")


def oracle(answer, gen):
    model = network(gen)
    trainer = answer.Trainer(model, F.mse_loss, sgd(model), window=2)
    reports = []
    for n in (3, 1, 4):
        reports.append(trainer.step(*batch_of(gen, n)))
        report = trainer.report()
        reports.append([report[name] for name in ("losses", "smoothed", "activity", "samples")])
    left = sum(len(hooks_of(m)) for m in model.modules())
    return [reports, [p.detach().clone() for p in model.parameters()], left]
