"""What grades train_epoch: means, weights, which graphs are alive at each batch; waits for the device."""

import gc
import weakref
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_that, marked
from grader.checks.contract import Contract, given, values
from grader.checks.devices import count_traffic
from grader.checks.registered import randomize


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


def numbers(gen, *sizes):
    """An epoch with batches of these sizes."""
    model = network(gen)
    return given(model, F.mse_loss, largest, sgd(model), batches_of(gen, *sizes))


def written_out(
    model,
    loss_fn,
    metric_fn,
    optimizer,
    batches,
    clear=True,
    trained_on=lambda loss, metric: loss,
    later=False,
    means=False,
):
    """Mean loss and mean metric, in floats; or with a mistake."""
    losses, metrics, count = 0.0, 0.0, 0
    for inputs, targets in batches:
        if clear:
            optimizer.zero_grad()
        n = 1 if means else len(targets)
        loss, metric = (fn(model(inputs), targets) for fn in (loss_fn, metric_fn))
        trained_on(loss, metric).backward()
        optimizer.step()
        if later:
            metric = metric_fn(model(inputs), targets)
        losses, metrics, count = losses + loss.item() * n, metrics + metric.item() * n, count + n
    return losses / count, metrics / count


def wrong(**how):
    return partial(written_out, **how)


contract = Contract(
    "train_epoch(model, loss_fn, metric_fn, optimizer, batches)",
    reference=written_out,
    inputs=lambda gen: {
        f"batches of {sizes}": numbers(gen, *sizes) for sizes in [(4, 4, 4), (4, 4, 1), (1, 3, 2, 6)]
    },
    after="model",
    ulps=1e3,
    scale=1.0,
    suspects={
        "a mean of the batches' means: weigh each by the number of its examples": wrong(means=True),
        "the metric is of the predictions after the step": wrong(later=True),
        "loss and metric are swapped": lambda *call: written_out(*call)[::-1],
        "the gradients of the batches before count as well": wrong(clear=False),
        "the step follows the gradient of loss + metric": wrong(
            trained_on=lambda loss, metric: loss + metric
        ),
        "the step follows the gradient of the metric": wrong(trained_on=lambda loss, metric: metric),
    },
    job=[
        values(title="Both means are over all examples; the gradients of the losses alone move the weights.")
    ],
)


def alive(refs):
    if any(ref() is not None for ref in refs):
        gc.collect()  # what only hangs in a reference cycle is not kept
    return sum(ref() is not None for ref in refs)


def watched(answer, model, metric_fn, batches):
    """What train_epoch returns, and of what it holds the graphs of earlier batches."""
    graphs, held = {"losses": [], "metrics": []}, set()

    def marking(name, fn):
        def run(predictions, targets):
            result = fn(predictions, targets)
            if result.requires_grad:
                result, graph = marked(result)
                graphs[name].append(graph)
            return result

        return run

    def loader():
        for batch in batches:
            held.update(name for name, refs in graphs.items() if alive(refs[:-1]))
            yield batch

    functions = marking("losses", F.mse_loss), marking("metrics", metric_fn)
    result = answer.train_epoch(model, *functions, sgd(model), loader())
    held.update(name for name, refs in graphs.items() if alive(refs))
    return result, sorted(held)


def test_no_graph_piles_up(answer, gen):
    """When a batch is asked for, no graph of a loss or metric is alive but those of the batch before."""
    _, held = watched(answer, network(gen), largest, batches_of(gen, 3, 4, 5, 6))
    expect_that(
        not held,
        f"the graphs of the {' and the '.join(held)} of all batches are held",
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
    def trained(gen, metric_fn, *sizes):
        """The means, the weights afterwards, and which graphs are held."""
        model = network(gen)
        pair, held = watched(answer, model, metric_fn, batches_of(gen, *sizes))
        return list(pair), [p.detach().float() for p in model.parameters()], held

    def means_and_graphs(metric_fn, *sizes):
        def case(gen):
            means, _, held = trained(gen, metric_fn, *sizes)
            return [means, held]

        return case

    return {
        "the means over batches of one size": lambda gen: trained(gen, largest, 4, 4, 4)[0],
        "the means over batches of all sizes": lambda gen: trained(gen, largest, 1, 3, 2, 6)[0],
        "the weights after a single batch": lambda gen: trained(gen, largest, 5)[1],
        "the weights after batches of all sizes": lambda gen: trained(gen, largest, 1, 3, 2, 6)[1],
        "the means and the graphs that are held": means_and_graphs(largest, 3, 3, 3),
        "a metric without a graph: the means and the graphs that are held": means_and_graphs(
            share_above, 3, 3, 3
        ),
    }
