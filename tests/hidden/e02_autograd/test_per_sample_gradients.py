"""What grades per_sample_gradients: each gradient, norms, the mean; frozen, dropout, no traces, zeros."""

import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that, modes_kept
from grader.checks.contract import Contract, dtypes, flat_cost, given, untouched, values


def one_by_one(model, loss, x, y, of=lambda grads: torch.stack(grads)):
    """The gradients of all samples, in a loop; or something else made of them."""
    names, params = zip(*[(n, p) for n, p in model.named_parameters() if p.requires_grad], strict=True)
    rows = [
        torch.autograd.grad(loss(model(x[i : i + 1]), y[i : i + 1]), params, materialize_grads=True)
        for i in range(len(x))
    ]
    return {name: of(list(grads)) for name, grads in zip(names, zip(*rows, strict=True), strict=True)}


def numbered(gen, model):
    """The model with numbers from this generator."""
    for p in model.parameters():
        p.data.copy_(torch.randn(p.shape, generator=gen) / 2)
    return model


def small(gen):
    return numbered(gen, nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 5)))


def classes(gen, rows):
    return torch.randint(0, 5, (rows,), generator=gen)


def models(gen):
    images = nn.Sequential(nn.Conv2d(2, 3, 2), nn.SiLU(), nn.Flatten(), nn.Linear(12, 2, bias=False))
    normed = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1)).eval()
    normed[1].running_mean.copy_(torch.rand(4, generator=gen))
    draw = partial(torch.randn, generator=gen)
    return {
        "classes of six rows": given(small(gen), F.cross_entropy, draw(6, 3), classes(gen, 6)),
        "images": given(numbered(gen, images), F.mse_loss, draw(3, 2, 3, 3), draw(3, 2)),
        "batch norm in evaluation mode": given(numbered(gen, normed), F.l1_loss, draw(4, 3), draw(4, 1)),
        "a single row": given(small(gen), F.cross_entropy, draw(1, 3), classes(gen, 1)),
    }


def detached(grads):
    return {name: grads[name].detach() for name in sorted(grads)}


def shares(grads):
    return torch.stack(grads) / len(grads)


per_sample = Contract(
    "per_sample_gradients(model, loss, x, y)",
    reference=lambda *call: detached(one_by_one(*call)),
    use=lambda answer, *call: detached(answer.per_sample_gradients(*call)),
    inputs=models,
    scale=20.0,
    suspects={
        "these are the samples' shares of the mean: each is divided by the batch": lambda *call: detached(
            one_by_one(*call, of=shares)
        ),
        "each sample has the gradient of the mean": lambda *call: detached(
            one_by_one(*call, of=lambda grads: torch.stack(grads).mean(0).expand(len(grads), *grads[0].shape))
        ),
        "it is the mean over the samples: each has its own": lambda *call: detached(
            one_by_one(*call, of=lambda grads: torch.stack(grads).mean(0))
        ),
        "it is the sum over the samples: each has its own": lambda *call: detached(
            one_by_one(*call, of=lambda grads: torch.stack(grads).sum(0))
        ),
    },
    job=[
        flat_cost(
            lambda n: given(nn.Linear(3, 5), F.cross_entropy, torch.ones(n, 3), torch.zeros(n).long()),
            over="samples",
        )
    ],
    fine=[
        values(
            inputs=lambda gen: {
                "float64": given(
                    small(gen).double(),
                    F.cross_entropy,
                    torch.randn(4, 3, generator=gen, dtype=torch.float64),
                    classes(gen, 4),
                )
            },
            name="float64",
            title="float64 stays float64.",
        ),
        untouched(),
    ],
)


def whole(grads):
    """The norm of each sample, over all parameters."""
    return torch.cat([g.flatten(1) for g in grads.values()], 1).norm(dim=1)


def clipped(grads, max_norm, norms=whole, factor=lambda x: x.clamp(max=1.0), of=torch.mean, after=False):
    """The mean; what comes after `max_norm` is as people get it wrong."""
    factors = torch.ones(len(next(iter(grads.values())))) if after else factor(max_norm / norms(grads))
    scaled = {
        name: of(g * factors.to(g).reshape(-1, *[1] * (g.ndim - 1)), dim=0) for name, g in grads.items()
    }
    norm = torch.cat([g.flatten() for g in scaled.values()]).norm()
    return {name: g * (factor(max_norm / norm) if after else 1.0) for name, g in scaled.items()}


def lengths(gen, rows, max_norm, **shapes):
    """Gradients of which some are longer than max_norm and some shorter; their mean is longer."""
    grads = {name: 2.0 + torch.randn(rows, *shape, generator=gen) for name, shape in shapes.items()}
    sizes = torch.linspace(0.4, 4.0, rows)[torch.randperm(rows, generator=gen)] * max_norm / whole(grads)
    return given({n: g * sizes.reshape(-1, *[1] * (g.ndim - 1)) for n, g in grads.items()}, max_norm)


clipped_mean = Contract(
    "clipped_mean(grads, max_norm)",
    reference=clipped,
    use=lambda answer, *call: {name: g.detach() for name, g in answer.clipped_mean(*call).items()},
    inputs=lambda gen: {
        "two parameters": lengths(gen, 6, 1.5, weight=(3, 4), bias=(3,)),
        "three parameters, as many rows as numbers": lengths(gen, 4, 0.25, a=(4,), b=(2, 2), c=(4, 3)),
        "one parameter": lengths(gen, 7, 2.0, weight=(2, 5)),
    },
    scale=5.0,
    suspects={
        "nothing is clipped": partial(clipped, factor=torch.ones_like),
        "short ones are made longer: only what is longer than max_norm is scaled": partial(
            clipped, factor=lambda x: x
        ),
        "the mean is clipped: each sample is, before the mean": partial(clipped, after=True),
        "it is the sum: the mean over the samples is asked for": partial(clipped, of=torch.sum),
        "each parameter is clipped by a norm of its own: one norm is for all": lambda grads, max_norm: {
            name: clipped({name: g}, max_norm)[name] for name, g in grads.items()
        },
        "numbers are clipped, not norms": lambda grads, max_norm: {
            name: g.clamp(-max_norm, max_norm).mean(0) for name, g in grads.items()
        },
        "one norm is taken of the whole batch": partial(
            clipped, norms=lambda grads: whole(grads).norm().expand(len(whole(grads)))
        ),
        "the sum of the parameters' norms is taken for the norm": partial(
            clipped, norms=lambda grads: sum(whole({name: g}) for name, g in grads.items())
        ),
        "the square of the norm is taken for the norm": partial(
            clipped, norms=lambda grads: whole(grads).square()
        ),
    },
    fine=[dtypes(torch.float64), untouched()],
)


@pytest.mark.fine
def test_frozen_parameters(answer, gen):
    """Parameters that are frozen have no entry."""
    model = small(gen)
    model[0].requires_grad_(False)
    found = answer.per_sample_gradients(
        model, F.cross_entropy, torch.randn(4, 3, generator=gen), classes(gen, 4)
    )
    expect_equal(sorted(found), ["2.bias", "2.weight"], "the names of the gradients, the first layer frozen")


@pytest.mark.fine
def test_dropout(answer):
    """Dropout in training mode draws for each sample anew."""
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(40, 1, bias=False))
    x = torch.ones(3, 40)
    call = "per_sample_gradients(model, loss, x, y), dropout in front, equal samples"
    found = answer.per_sample_gradients(model, lambda out, y: (out - y).sum(), x, torch.zeros(3, 1))
    rows = found["1.weight"].detach().reshape(3, 40)
    expect_that(bool(((rows == 0) | (rows == 2)).all()), f"{call}: they are neither dropped nor kept")
    masks = [tuple(row.tolist()) for row in rows]
    told = f"{call}: all samples share what is dropped"
    expect_that(len(set(masks)) == 3, told, likely='see the argument `randomness` of vmap: "different"')


@pytest.mark.fine
def test_no_traces(answer, gen):
    """Results carry no graph, no `.grad` changes, and gradients may be switched off."""
    model, x, y = small(gen), torch.randn(4, 3, generator=gen), classes(gen, 4)
    wanted = one_by_one(model, F.cross_entropy, x, y)["0.weight"]
    call = "per_sample_gradients(model, loss, x, y)"
    for p in model.parameters():
        p.grad = torch.full_like(p, 7.0)
    with modes_kept(call, model):
        found = answer.per_sample_gradients(model, F.cross_entropy, x, y)
    for name, p in model.named_parameters():
        kept = p.grad is not None and bool((p.grad == 7.0).all())
        expect_that(kept, f"{call} changes the .grad of {name}", yours=p.grad)
        expect_that(not found[name].requires_grad, f"{call}[{name!r}] carries a graph", yours=found[name])
    with torch.no_grad():
        again = answer.per_sample_gradients(model, F.cross_entropy, x, y)
    expect_close(again["0.weight"].detach(), wanted, f"{call}['0.weight'] under no_grad", scale=5.0)


@pytest.mark.fine
def test_zeros_and_no_bound(answer, gen):
    """A sample whose gradient is 0 counts as 0; max_norm may be infinite."""
    grads = torch.randn(3, 4, generator=gen) + 2.0
    grads[1] = 0.0
    for max_norm, wanted in [(1e3, grads.mean(0)), (math.inf, grads.mean(0))]:
        yours = answer.clipped_mean({"weight": grads.clone()}, max_norm)["weight"]
        expect_close(yours, wanted, f"clipped_mean(grads, {max_norm:g}), one gradient of zeros,", scale=5.0)
