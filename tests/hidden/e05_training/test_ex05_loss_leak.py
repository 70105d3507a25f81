"""What grades train_epoch: means, weights, which graphs are alive at each batch, waits for the device."""

import copy
import gc
import math
import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_that, global_rng_untouched, modes_kept
from grader.checks.devices import count_traffic
from grader.checks.registered import expect_weights, randomize

CALL = "train_epoch(model, loss_fn, metric_fn, optimizer, batches)"


def network(gen):
    """3 features, 4 hidden units, 2 outputs."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    randomize(model, gen)
    return model


def batches_of(gen, *sizes):
    return [
        (torch.randn(n, 3, generator=gen).double(), torch.randn(n, 2, generator=gen).double()) for n in sizes
    ]


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)


def largest(predictions, targets):
    """A metric that carries a graph."""
    return (predictions - targets).square().amax(1).sqrt().mean()


SCALE = nn.Parameter(torch.ones((), dtype=torch.float64))


def scaled(predictions, targets):
    """A metric that has a parameter of its own, so that predictions without a graph do not rid it of one."""
    return largest(predictions, targets) * SCALE


def share_above(predictions, targets):
    """A metric without a graph, in float32."""
    return (predictions > targets).float().mean()


def written_out(model, optimizer, batches, metric_fn):
    """The mean loss and the mean metric, in floats."""
    losses, metrics, count = [], [], 0
    for inputs, targets in batches:
        predictions = model(inputs)
        loss = F.mse_loss(predictions, targets)
        metrics.append(metric_fn(predictions, targets).item() * len(targets))
        losses.append(loss.item() * len(targets))
        count += len(targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return math.fsum(losses) / count, math.fsum(metrics) / count


def expect_pair(yours, wanted, call, rel_tol=1e-9):
    expect_equal(type(yours).__name__, "tuple", f"the type of {call}")
    expect_equal([type(number).__name__ for number in yours], ["float", "float"], f"the types in {call}")
    for name, number, right in zip(("loss", "metric"), yours, wanted, strict=True):
        close = number == right or math.isclose(number, right, rel_tol=rel_tol)
        expect_that(
            close or (math.isnan(number) and math.isnan(right)),
            f"wrong mean {name} from {call}",
            yours=f"{number:.10g}",
            wanted=f"{right:.10g}",
        )


class Learned(nn.Module):
    """Predicts its parameter: in its memory, which a step writes to."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((1, 2), 3.0, dtype=torch.float64))

    def forward(self, _):
        return self.weight


class Turned(nn.Sequential):
    """Predicts a row for each output, with a column for each example."""

    def forward(self, x):
        return super().forward(x).T


@pytest.mark.parametrize("sizes", [(4, 4, 1), (5,), (1, 3, 2, 6)], ids=str)
def test_means(answer, gen, sizes):
    """Loss and metric are means over all examples, from the predictions before each step."""
    model, batches = network(gen), batches_of(gen, *sizes)
    for metric_fn, rel_tol in ((largest, 1e-9), (share_above, 1e-5)):
        twin = copy.deepcopy(model)
        wanted = written_out(twin, sgd(twin), batches, metric_fn)
        mine = copy.deepcopy(model)
        yours = answer.train_epoch(mine, F.mse_loss, metric_fn, sgd(mine), iter(batches))
        expect_pair(yours, wanted, f"train_epoch(…) with batches of {sizes}", rel_tol)
    learned = Learned()
    yours = answer.train_epoch(
        learned, F.mse_loss, largest, sgd(learned), [(None, torch.zeros(1, 2).double())]
    )
    call = "train_epoch(…) whose prediction, before the step, is the parameter itself, 3.0,"
    expect_pair(yours, (9.0, 3.0), call)
    narrow = lambda predictions, targets: predictions.square().mean()  # noqa: E731
    fine = lambda predictions, targets: targets.square().mean()  # noqa: E731
    batches = [(x.float(), y.repeat(1, number)) for number, (x, y) in enumerate(batches, start=1)]  # wider
    model = Turned(*model.float())
    pair = answer.train_epoch(model, narrow, fine, torch.optim.SGD(model.parameters(), lr=0.0), batches)
    wanted = math.fsum(fine(None, y).item() * len(y) for _, y in batches) / sum(sizes)
    call = "train_epoch(…) with float64 metrics, float32 predictions (2, n), targets (n, 2), (n, 4), …"
    expect_pair(pair, (pair[0], wanted), call, 1e-12)


def test_weights(answer, gen):
    """The weights go where the losses alone lead them, with old gradients and the metric left out."""
    model, batches = network(gen), batches_of(gen, 4, 2, 3)
    batches[2][1].mul_(1e4)  # large gradients are nobody's to clip
    twin = copy.deepcopy(model)
    written_out(twin, sgd(twin), batches, largest)
    scale = nn.Parameter(torch.ones(2).double())  # loss_fn holds it, not the model
    for p in [*model.parameters(), scale]:
        p.grad = torch.full_like(p, 5.0)
    optimizer = sgd(model)
    optimizer.add_param_group({"params": [scale]})
    loss_fn = lambda out, targets: F.mse_loss(out, targets) + 0 * scale.sum()  # noqa: E731
    metric_fn = lambda out, targets: largest(out, targets) + (out * 0).sum().sqrt()  # its gradient is NaN  # noqa: E731
    model[1].eval()  # frozen, in a model that trains
    with global_rng_untouched(CALL), modes_kept(CALL, model):
        answer.train_epoch(model, loss_fn, metric_fn, optimizer, batches)
    expect_weights(
        model, twin, "three batches, with old gradients in `.grad` and a metric whose gradient is NaN"
    )
    wanted = torch.ones(2).double()
    expect_equal(scale.detach(), wanted, "a parameter with old gradients that loss_fn holds")


def test_nan_and_inf(answer, gen):
    """A NaN or inf in one batch is not hidden, neither in the loss nor in the metric."""
    for bad in (math.nan, math.inf):
        numbers = iter([1.0, bad, 2.0])
        metric_fn = lambda p, t, numbers=numbers: torch.tensor(next(numbers))  # noqa: E731
        model, batches = network(gen), batches_of(gen, 2, 1, 2)
        _, metric = answer.train_epoch(model, F.mse_loss, metric_fn, sgd(model), batches)
        expect_equal(metric, bad, f"the mean metric of train_epoch(…) where one is {bad}")
        extra = iter([0.0, bad, 0.0])
        loss_fn = lambda p, t, extra=extra: p.square().mean() + next(extra)  # noqa: E731
        model = network(gen)
        loss, _ = answer.train_epoch(
            model, loss_fn, share_above, torch.optim.SGD(model.parameters(), lr=0.0), batches
        )
        expect_equal(loss, bad, f"the mean loss of train_epoch(…) where one is {bad}")


class Token:
    """Hangs on a node of the graph, and is alive as long as the node is."""

    def __call__(self, *gradients):
        return None


class Watch:
    """Which batches' graphs, predictions, losses and metrics are alive."""

    def __init__(self):
        self.refs = {"graph": [], "predictions": [], "loss": [], "metric": [], "inputs": []}
        self.outs = []

    def model(self, net):
        def hook(_, inputs, out):
            read = [number for number, ref in enumerate(self.refs["inputs"]) if ref() is inputs[0]]
            self.outs += [(number, weakref.ref(out)) for number in read]
            self.on_graph(out)
            # its memory too: a detached tensor shares it
            self.refs["predictions"] += [weakref.ref(out), weakref.ref(out.untyped_storage())]

        net.register_forward_hook(hook)
        return net

    def fn(self, name, fn):
        def watched(predictions, targets):
            result = fn(predictions, targets)
            if result.grad_fn is not None:
                self.on_graph(result)
            # its memory too: that of mse_loss's result is as large as the batch
            self.refs[name] += [weakref.ref(result), weakref.ref(result.untyped_storage())]
            return result

        return watched

    def on_graph(self, tensor):
        token = Token()
        tensor.grad_fn.register_hook(token)
        self.refs["graph"].append(weakref.ref(token))

    def alive(self, allowed):
        """By kind, how many are alive; `allowed` of them may be."""
        found = self._count()
        if any(found[kind] > allowed[kind] for kind in found):
            gc.collect()  # what only hangs in a reference cycle is not kept
            found = self._count()
        return found

    def _count(self):
        return {kind: sum(ref() is not None for ref in refs) for kind, refs in self.refs.items()}


LIMITS = {"graph": 3, "predictions": 2, "loss": 2, "metric": 2, "inputs": 1}
"""What one batch leaves behind: three graphs, and tensors each with its memory."""


@pytest.mark.parametrize("metric_fn", [largest, scaled, share_above], ids=["graph", "own", "no graph"])
def test_nothing_piles_up(answer, gen, metric_fn):
    """When a batch is asked for, nothing is alive but the one before."""
    watch, found, late = Watch(), [], []
    model = watch.model(network(gen))

    def loader():
        for _ in range(4):
            found.append(watch.alive(LIMITS))
            gone = [number for number, out in watch.outs if number < len(found) - 2 and out() is not None]
            late.extend(gone)
            batch = batches_of(gen, 3)[0]
            watch.refs["inputs"].append(weakref.ref(batch[0]))
            yield batch
            del batch

    answer.train_epoch(
        model, watch.fn("loss", F.mse_loss), watch.fn("metric", metric_fn), sgd(model), loader()
    )
    expect_equal(late, [], "batches whose predictions are alive when the batch after the next is asked for")
    expect_equal(len(found), 4, "the number of batches that are asked for")
    for number, alive in enumerate(found):
        for kind, count in alive.items():
            expect_that(
                count <= LIMITS[kind],
                f"{kind}: more than one batch is alive when batch {number} is asked for",
                yours=f"{count} of them, after {number} batches",
                wanted=f"at most {LIMITS[kind]}, of the batch before",
                likely="a sum or list of tensors that carry their graphs, or share a batch's memory",
            )


def test_nothing_is_left(answer, gen):
    """When train_epoch has returned, no graph, prediction, loss or metric is alive."""
    watch = Watch()
    model = watch.model(network(gen))
    batches, optimizer = batches_of(gen, 3, 2), sgd(model)
    result = answer.train_epoch(
        model, watch.fn("loss", F.mse_loss), watch.fn("metric", largest), optimizer, batches
    )
    del batches
    for kind, count in watch.alive(dict.fromkeys(LIMITS, 0)).items():
        expect_equal(count, 0, f"{kind}: how many are alive after train_epoch(…)")
    expect_equal([type(number).__name__ for number in result], ["float", "float"], "the types in the result")
    for p in model.parameters():
        expect_that(p.grad is None or not p.grad.requires_grad, "a gradient carries a graph of its own")


def test_called_once(answer, gen):
    """For each batch the model, the loss, the metric and the optimizer run once, in the caller's mode."""
    model, batches, seen, given = network(gen).eval(), batches_of(gen, 3, 2), [], []
    optimizer = sgd(model)
    model.register_forward_hook(lambda m, *_: seen.append(("model", m.training)))
    optimizer.register_step_post_hook(lambda *_: seen.append(("step", False)))

    def logged(name, fn):
        def run(predictions, targets):
            seen.append((name, False))
            result = fn(predictions, targets)
            given.append((name, result, result.detach().clone()))
            return result

        return run

    answer.train_epoch(model, logged("loss", F.mse_loss), logged("metric", largest), optimizer, batches)
    for name in ("model", "loss", "metric", "step"):
        expect_equal(sum(part == name for part, _ in seen), 2, f"the runs of {name} in two batches")
    for name, tensor, was in given:
        expect_equal(tensor.detach(), was, f"the tensor that {name}_fn has returned, after the epoch,")
        cut = name == "loss" and not tensor.requires_grad  # a metric may be computed without a graph
        expect_that(not cut, "the tensor that loss_fn has returned is cut off its graph in place")
    expect_that(not any(training for _, training in seen), "a model in evaluation mode runs in training mode")


def test_waits_at_the_end(answer, gen, device):
    """On another device the host waits at the end only, and the numbers are the same."""
    model, batches = network(gen), batches_of(gen, 4, 4, 1, 2, 3)
    twin = copy.deepcopy(model)
    wanted = written_out(twin, sgd(twin), batches, largest)
    model.to(device)
    optimizer = sgd(model)
    there = [(inputs.to(device), targets.to(device)) for inputs, targets in batches]
    with count_traffic() as traffic:
        yours = answer.train_epoch(model, F.mse_loss, largest, optimizer, there)
    expect_pair(yours, wanted, "train_epoch(…) on another device")
    expect_that(
        traffic.syncs <= 2,
        "the host waits for the device during the epoch",
        yours=f"{traffic.syncs} waits for 5 batches",
        wanted="at most two, at the end",
    )
    expect_that(
        traffic.syncs > 0,
        "the host does not wait for the numbers that it reads (non_blocking=True)",
        yours="numbers that may not have arrived yet",
        wanted="one wait or two, at the end",
    )
    expect_weights(model, twin, "five batches on another device")


def test_time_first(answer, gen):
    """The targets say how many examples a batch has, also where the inputs have the time first."""

    class Mean(nn.Module):
        def forward(self, x):
            return x.mean(0)

    model = nn.Sequential(Mean(), network(gen))
    batches = [
        (torch.randn(t, n, 3, generator=gen).double(), torch.randn(n, 2, generator=gen).double())
        for t, n in [(5, 1), (1, 4), (3, 2)]
    ]
    twin = copy.deepcopy(model)
    wanted = written_out(twin, sgd(twin), batches, largest)
    yours = answer.train_epoch(model, F.mse_loss, largest, sgd(model), batches)
    expect_pair(yours, wanted, "train_epoch(…) with inputs (time, batch, features)")


def oracle(answer, gen):
    results = []
    for metric_fn in (largest, share_above):
        model = network(gen)
        pair = answer.train_epoch(model, F.mse_loss, metric_fn, sgd(model), iter(batches_of(gen, 4, 1, 3)))
        results.append([pair[0], pair[1], [p.detach().clone() for p in model.parameters()]])
    return results
