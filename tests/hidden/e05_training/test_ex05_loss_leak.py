"""What grades train_epoch: means, weights, which graphs are alive at each batch; waits for the device."""

import copy
import gc
import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_number, expect_that, marked
from grader.checks.devices import count_traffic
from grader.checks.registered import randomize, state_of


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


def share_above(predictions, targets):
    """A metric without a graph, in float32."""
    return (predictions > targets).float().mean()


def written_out(model, batches, clear=True, trained_on=lambda loss, metric: loss, later=False, means=False):
    """Mean loss and mean metric, in floats; or with a mistake."""
    optimizer, losses, metrics, count = sgd(model), 0.0, 0.0, 0
    for inputs, targets in batches:
        if clear:
            optimizer.zero_grad()
        n = 1 if means else len(targets)
        loss, metric = (fn(model(inputs), targets) for fn in (F.mse_loss, largest))
        trained_on(loss, metric).backward()
        optimizer.step()
        if later:
            metric = largest(model(inputs), targets)
        losses, metrics, count = losses + loss.item() * n, metrics + metric.item() * n, count + n
    return losses / count, metrics / count


def suspects_of(mistakes, run):
    return {told: lambda mistake=mistake: run(mistake) for told, mistake in mistakes.items()}


MISTAKEN_MEANS = {
    "a mean of the batches' means: weigh each by the number of its examples": {"means": True},
    "the metric is of the predictions after the step": {"later": True},
}


@pytest.mark.parametrize("sizes", [(4, 4, 1), (1, 3, 2, 6)], ids=str)
def test_means(answer, gen, sizes):
    """Loss and metric are means over all examples, from the predictions before each step."""
    model, batches = network(gen), batches_of(gen, *sizes)
    start = copy.deepcopy(model)
    wanted = written_out(copy.deepcopy(start), batches)
    yours = answer.train_epoch(model, F.mse_loss, largest, sgd(model), batches)
    expect_equal(type(yours).__name__, "tuple", "the type of train_epoch(…)")
    for index, name in enumerate(("loss", "metric")):
        run = lambda mistake, i=index: written_out(copy.deepcopy(start), batches, **mistake)[i]  # noqa: E731
        other = {"loss and metric are swapped": lambda i=index: wanted[1 - i]}
        told = {**suspects_of(MISTAKEN_MEANS, run), **other}
        call = f"mean {name} from train_epoch(…) with batches of {sizes}"
        expect_number(yours[index], wanted[index], call, suspects=told)


MISTAKEN_STEPS = {
    "the gradients of the batches before count as well": {"clear": False},
    "the step follows the gradient of loss + metric": {"trained_on": lambda loss, metric: loss + metric},
    "the step follows the gradient of the metric": {"trained_on": lambda loss, metric: metric},
}


def test_weights(answer, gen):
    """The weights go where the gradients of the losses lead them."""
    model, batches = network(gen), batches_of(gen, 4, 2, 3)
    start, twin, before = copy.deepcopy(model), copy.deepcopy(model), state_of(model)
    written_out(twin, batches)
    answer.train_epoch(model, F.mse_loss, largest, sgd(model), batches)

    def after(name, mistake):
        other = copy.deepcopy(start)
        written_out(other, batches, **mistake)
        return state_of(other)[name]

    mine = state_of(model)
    for name, right in state_of(twin).items():
        told = suspects_of(MISTAKEN_STEPS, lambda mistake, name=name: after(name, mistake))
        call = f"{name} after three batches"
        expect_close(mine[name], right, call, ulps=1e4, scale=1.0, before=before[name], suspects=told)


def alive(refs):
    if any(ref() is not None for ref in refs):
        gc.collect()  # what only hangs in a reference cycle is not kept
    return sum(ref() is not None for ref in refs)


def test_no_graph_piles_up(answer, gen):
    """When a batch is asked for, no graph of a loss or metric is alive but those of the batch before."""
    graphs, held = {"losses": [], "metrics": []}, set()

    def watched(name, fn):
        def run(predictions, targets):
            result, graph = marked(fn(predictions, targets))
            graphs[name].append(graph)
            return result

        return run

    def loader():
        for number in range(4):
            held.update(name for name, refs in graphs.items() if alive(refs[:-1]))
            yield batches_of(gen, 3 + number)[0]

    model = network(gen)
    answer.train_epoch(
        model, watched("losses", F.mse_loss), watched("metrics", largest), sgd(model), loader()
    )
    held.update(name for name, refs in graphs.items() if alive(refs))
    expect_that(
        not held,
        f"the graphs of the {' and the '.join(sorted(held))} of all batches are held",
        likely="a sum or a list of tensors that carry their graphs",
    )


@pytest.mark.fine
def test_batches_are_let_go(answer, gen):
    """Inputs and predictions are let go: at most those of the batch before are held."""
    model, kept, found = network(gen), {"inputs": [], "predictions": []}, []
    memory = lambda out: weakref.ref(out.untyped_storage())  # detached, they share it  # noqa: E731
    model.register_forward_hook(lambda m, args, out: kept["predictions"].append(memory(out)))

    def loader():
        for number in range(5):
            found.extend(name for name, refs in kept.items() if alive(refs[:-1]))
            batch = batches_of(gen, 2 + number)[0]
            kept["inputs"].append(weakref.ref(batch[0]))
            yield batch
            del batch

    answer.train_epoch(model, F.mse_loss, share_above, sgd(model), loader())
    for name in kept:
        expect_that(name not in found, f"the {name} of earlier batches are held when a batch is asked for")


@pytest.mark.fine
def test_waits_at_the_end(answer, gen, device):
    """On another device the host waits at the end only."""
    model, batches = network(gen).to(device), batches_of(gen, 4, 4, 1, 2, 3)
    there, optimizer = [(inputs.to(device), targets.to(device)) for inputs, targets in batches], sgd(model)
    with count_traffic() as traffic:
        answer.train_epoch(model, F.mse_loss, largest, optimizer, there)
    expect_that(
        traffic.syncs <= 2,
        "Python waits for the device during the epoch",
        yours=f"{traffic.syncs} waits for 5 batches",
        wanted="at most two, at the end",
    )


def oracle(answer, gen):
    def of(metric_fn, *sizes):
        model, batches = network(gen), batches_of(gen, *sizes)

        def means_and_weights():
            pair = answer.train_epoch(model, F.mse_loss, metric_fn, sgd(model), batches)
            return [list(pair), [p.detach().float() for p in model.parameters()]]

        return means_and_weights

    return {
        "a short last batch": of(largest, 4, 4, 1),
        "a metric without a graph": of(share_above, 5, 2, 3),
        "batches of all sizes": of(largest, 1, 3, 2, 6),
    }
