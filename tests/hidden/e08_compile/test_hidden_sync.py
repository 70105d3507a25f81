"""What grades train_epoch: weights, the report, waits on the simulated device; no labels, memory, batches."""

import copy
import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_number, expect_that, peak_bytes, unchanged
from grader.checks.devices import count_traffic
from grader.checks.registered import randomize

NAMES = ["accuracy", "largest_norm", "loss"]
SIZES = (2, 7), (3, 2), (1, 1), (4, 5)
OPTIMIZERS = {
    "SGD": lambda model: torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.5),
    "AdamW": lambda model: torch.optim.AdamW(model.parameters(), lr=0.1),
}


def tagger(gen):
    """Three features, five classes."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 5))
    randomize(model, gen)
    return model


def batches_of(gen, *sizes, unlabelled=()):
    """A batch for each size (rows, time); some positions have no label, in those of `unlabelled` none has."""
    batches = []
    for number, size in enumerate(sizes):
        labels = torch.randint(0, 5, size, generator=gen)
        labels[torch.rand(size, generator=gen) < 0.4] = -100
        labels.view(-1)[0] = number % 5
        if number in unlabelled:
            labels.fill_(-100)
        batches.append((2 * torch.randn(*size, 3, generator=gen), labels))
    return batches


SCALES = {
    "small gradients are scaled up to max_norm as well": lambda bound, norm, own: bound / norm,
    "each gradient is scaled by its own norm, not by that of all": lambda bound, norm, own: min(
        bound / own, 1.0
    ),
    "the gradients are not scaled": lambda bound, norm, own: 1.0,
}
"""Mistakes in scaling: its factor, by max_norm, the norm of all gradients, and that of one."""


def written_out(model, kind, batches, max_norm, scale=lambda bound, norm, own: min(bound / norm, 1.0)):
    """The report in Python numbers, and what it is with a mistake in it."""
    optimizer, losses, norms, counts, hits, zeros = OPTIMIZERS[kind](model), [], [], [], 0, 0
    for features, labels in batches:
        logits = model(features)
        labelled = labels != -100
        counts.append(int(labelled.sum()))
        loss = F.cross_entropy(logits[labelled], labels[labelled], reduction="sum")
        losses.append(loss.item())
        hits += int((logits.argmax(-1)[labelled] == labels[labelled]).sum())
        zeros += int((logits.argmax(-1)[~labelled] == 0).sum())
        optimizer.zero_grad()
        (loss / max(counts[-1], 1)).backward()
        norms.append(math.sqrt(math.fsum(p.grad.double().square().sum().item() for p in model.parameters())))
        for p in model.parameters():
            p.grad.mul_(scale(max_norm, norms[-1], p.grad.norm().item()) if norms[-1] else 1.0)
        optimizer.step()
    total, count, positions = math.fsum(losses), sum(counts), sum(labels.numel() for _, labels in batches)
    report = {"loss": total / count, "accuracy": hits / count, "largest_norm": max(norms)}
    means = [loss / max(n, 1) for loss, n in zip(losses, counts, strict=True)]
    mistakes = {
        "this is the mean of the batches' means": {"loss": math.fsum(means) / len(means)},
        "this is the sum of the batches' means": {"loss": math.fsum(means)},
        "positions without a label count": {"loss": total / positions, "accuracy": hits / positions},
        "positions without a label count as class 0": {"accuracy": (hits + zeros) / count},
        "this is the last norm": {"largest_norm": norms[-1]},
        "this is the norm after scaling": {"largest_norm": min(max(norms), max_norm)},
    }
    return report, mistakes


def expect_trained(yours, model, wanted, twin, call, mistaken=None):
    """Fail unless the report is the one written out, and the weights are those of the twin.

    `mistaken`: the numbers of the report, and the weights, by mistakes in words.
    """
    report, mistakes = wanted
    made = {told: lambda m=m: m for told, m in mistakes.items()} | (mistaken or {})

    def suspects(name):
        return {told: lambda make=make: make()[name] for told, make in made.items()}

    expect_equal(sorted(yours), NAMES, f"the names in the report of {call}")
    for name, right in report.items():
        options = {"rtol": 2e-5, "atol": 1e-6, "suspects": suspects(name)}
        expect_number(yours[name], right, f"{name} from {call}", **options)
    for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
        options = {"ulps": 300.0, "scale": 1.0, "suspects": suspects(name)}
        expect_close(p.detach().cpu(), right.detach(), f"{name} after {call}", **options)


def expect_epoch(answer, model, batches, max_norm, call, kind="SGD"):
    mine, twin = copy.deepcopy(model), copy.deepcopy(model)
    wanted = written_out(twin, kind, batches, max_norm)
    yours = answer.train_epoch(mine, OPTIMIZERS[kind](mine), iter(batches), max_norm)

    def trained(scale):
        other = copy.deepcopy(model)
        report, _ = written_out(other, kind, batches, max_norm, scale)
        return report | {name: p.detach() for name, p in other.named_parameters()}

    mistaken = {told: partial(trained, scale) for told, scale in SCALES.items()}
    expect_trained(yours, mine, wanted, twin, call, mistaken)


@pytest.mark.parametrize("max_norm", [100.0, 0.7, 0.05])
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_epoch(answer, gen, kind, max_norm):
    """Report and weights are right where no, some and all gradients are scaled."""
    call = f"train_epoch(…, max_norm={max_norm}) with {kind}"
    expect_epoch(answer, tagger(gen), batches_of(gen, *SIZES), max_norm, call, kind)


def trained_there(answer, gen, device, max_norm, times=1):
    """Train on the device: the waits up to the end of each step, and all of them."""
    model, batches, waits = tagger(gen), batches_of(gen, *SIZES), []
    twin = copy.deepcopy(model)
    wanted = written_out(twin, "SGD", batches * times, max_norm)
    model.to(device)
    there = [(features.to(device), labels.to(device)) for features, labels in batches] * times

    def loader():
        for batch in there:
            yield batch
            waits.append(traffic.syncs + traffic.to_host)

    with count_traffic() as traffic:
        yours = answer.train_epoch(model, OPTIMIZERS["SGD"](model), loader(), max_norm)
    expect_trained(yours, model, wanted, twin, f"train_epoch(…, max_norm={max_norm}) on another device")
    return waits, traffic.syncs


@pytest.mark.parametrize("max_norm", [100.0, 0.05])
def test_no_wait_in_a_step(answer, gen, device, max_norm):
    """No number goes to the host before the last step is done, with or without scaling."""
    waits, _ = trained_there(answer, gen, device, max_norm, times=3)
    first = next((number for number, n in enumerate(waits) if n), None)
    expect_that(
        first is None,
        f"the host waits for the device in step {first} of train_epoch(…, max_norm={max_norm})",
        yours=f"{waits[first or 0]} copies and waits up to the end of this step",
        wanted="none before the last step is done",
        likely="`.item()`, `.tolist()`, `if`, `max`, `float` or printing of a tensor, or a boolean index",
    )


@pytest.mark.fine
def test_waits_at_the_end(answer, gen, device):
    """After the last step the host waits at most three times, for however many batches."""
    _, waits = trained_there(answer, gen, device, 0.7, times=3)
    expect_that(waits <= 3, "too many waits in train_epoch(…) of 12 batches", yours=waits, wanted="at most 3")


@pytest.mark.fine
@pytest.mark.parametrize("unlabelled", [(1,), (0, 2, 3)], ids=str)
def test_no_labels(answer, gen, unlabelled):
    """A batch without labels has loss 0, counts nowhere, and takes its step."""
    batches = batches_of(gen, *SIZES, unlabelled=unlabelled)
    call = f"train_epoch(…), the batches {unlabelled} have no labels"
    expect_epoch(answer, tagger(gen), batches, 0.7, call)


@pytest.mark.fine
def test_nothing_piles_up(answer, gen):
    """Of earlier batches nothing but single numbers is kept."""
    model, batches = tagger(gen), batches_of(gen, (40, 50)) * 12  # a mask of it takes 2000 bytes
    few, many = (
        peak_bytes(lambda n=n: answer.train_epoch(model, OPTIMIZERS["SGD"](model), batches[:n]))
        for n in (4, 12)
    )
    expect_that(
        many < few + 8 * 1000,
        "something of each batch is kept until the end of the epoch",
        yours=f"{few} bytes at most in an epoch of 4 batches, {many} in one of 12",
        wanted="nothing but single numbers, such as the sum of its hits",
    )


@pytest.mark.fine
def test_batches_stay(answer, gen):
    """Features and labels stay as they are."""
    model, (batch,) = tagger(gen), batches_of(gen, (3, 4))
    with unchanged("train_epoch(…)", features=batch[0], labels=batch[1]):
        answer.train_epoch(model, OPTIMIZERS["SGD"](model), [batch])


def epoch(answer, gen, kind, max_norm):
    """The report and the weights."""
    model = tagger(gen).double()
    batches = [(x.double(), labels) for x, labels in batches_of(gen, *SIZES)]
    report = answer.train_epoch(model, OPTIMIZERS[kind](model), batches, max_norm)
    return [[report[name] for name in NAMES], [p.detach().float() for p in model.parameters()]]


def oracle(answer, gen):
    def told(name):
        return lambda gen: [epoch(answer, gen, "SGD", bound)[0][NAMES.index(name)] for bound in (100.0, 0.5)]

    def weights(kind, max_norm):
        return lambda gen: epoch(answer, gen, kind, max_norm)[1]

    return {
        **{f"{name} in the report": told(name) for name in NAMES},
        "the weights after SGD, no gradient is scaled": weights("SGD", 100.0),
        "the weights after SGD, gradients are scaled": weights("SGD", 0.5),
        "the weights after AdamW, gradients are scaled": weights("AdamW", 0.5),
    }
