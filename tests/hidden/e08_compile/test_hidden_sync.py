"""What grades train_epoch: weights, the report, waits on the simulated device; no labels, memory, batches."""

import copy
import math
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_number, expect_that, peak_bytes
from grader.checks.contract import Contract, given, untouched, values
from grader.checks.devices import count_traffic
from grader.checks.registered import randomize

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


def report(epoch):
    return {
        "loss": sum(epoch.losses) / sum(epoch.counts),
        "accuracy": epoch.hits / sum(epoch.counts),
        "largest_norm": max(epoch.norms),
    }


def written_out(
    model, optimizer, batches, max_norm, scale=lambda bound, norm, own: min(bound / norm, 1.0), told=report
):
    """The report in Python numbers; or with a mistake in scaling or in what is told."""
    epoch = SimpleNamespace(losses=[], norms=[], counts=[], hits=0, zeros=0, bound=max_norm)
    epoch.positions = sum(labels.numel() for _, labels in batches)
    for features, labels in batches:
        logits = model(features)
        labelled = labels != -100
        epoch.counts.append(int(labelled.sum()))
        loss = F.cross_entropy(logits[labelled], labels[labelled], reduction="sum")
        epoch.losses.append(loss.item())
        epoch.hits += int((logits.argmax(-1)[labelled] == labels[labelled]).sum())
        epoch.zeros += int((logits.argmax(-1)[~labelled] == 0).sum())
        optimizer.zero_grad()
        (loss / max(epoch.counts[-1], 1)).backward()
        norm = math.sqrt(math.fsum(p.grad.double().square().sum().item() for p in model.parameters()))
        for p in model.parameters():
            p.grad.mul_(scale(max_norm, norm, p.grad.norm().item()) if norm else 1.0)
        epoch.norms.append(norm)
        optimizer.step()
    return told(epoch)


def tells(make):
    """The mistake of these numbers in the report."""
    return partial(written_out, told=lambda epoch: report(epoch) | make(epoch))


def means(epoch):
    return [loss / max(n, 1) for loss, n in zip(epoch.losses, epoch.counts, strict=True)]


def epochs(gen, kind, max_norm, dtype=torch.float32, unlabelled=()):
    model = tagger(gen).to(dtype)
    batches = [(x.to(dtype), labels) for x, labels in batches_of(gen, *SIZES, unlabelled=unlabelled)]
    return given(model, OPTIMIZERS[kind](model), batches, max_norm)


contract = Contract(
    "train_epoch(model, optimizer, batches, max_norm)",
    reference=written_out,
    inputs=lambda gen: {
        f"{kind}, {how}": epochs(gen, kind, max_norm, torch.float64)
        for kind, how, max_norm in [
            ("SGD", "no gradient is scaled", 100.0),
            ("SGD", "gradients are scaled", 0.5),
            ("AdamW", "gradients are scaled", 0.5),
        ]
    },
    after="model",
    ulps=300.0,
    scale=1.0,
    suspects={
        "small gradients are scaled up to max_norm as well": partial(
            written_out, scale=lambda bound, norm, own: bound / norm
        ),
        "each gradient is scaled by its own norm, not by that of all": partial(
            written_out, scale=lambda bound, norm, own: min(bound / own, 1.0)
        ),
        "the gradients are not scaled": partial(written_out, scale=lambda bound, norm, own: 1.0),
        "this is the mean of the batches' means": tells(
            lambda epoch: {"loss": sum(means(epoch)) / len(epoch.counts)}
        ),
        "this is the sum of the batches' means": tells(lambda epoch: {"loss": sum(means(epoch))}),
        "positions without a label count": tells(
            lambda epoch: {
                "loss": sum(epoch.losses) / epoch.positions,
                "accuracy": epoch.hits / epoch.positions,
            }
        ),
        "positions without a label count as class 0": tells(
            lambda epoch: {"accuracy": (epoch.hits + epoch.zeros) / sum(epoch.counts)}
        ),
        "this is the last norm": tells(lambda epoch: {"largest_norm": epoch.norms[-1]}),
        "this is the norm after scaling": tells(
            lambda epoch: {"largest_norm": min(max(epoch.norms), epoch.bound)}
        ),
    },
    job=[
        values(
            inputs=lambda gen: {
                f"with {kind}, max_norm={max_norm}": epochs(gen, kind, max_norm)
                for kind in OPTIMIZERS
                for max_norm in (100.0, 0.7, 0.05)
            },
            title="Report and weights are right where no, some and all gradients are scaled.",
        )
    ],
    fine=[
        values(
            inputs=lambda gen: {
                f"where the batches {none} have no labels": epochs(gen, "SGD", 0.7, unlabelled=none)
                for none in [(1,), (0, 2, 3)]
            },
            name="no_labels",
            title="A batch without labels has loss 0, counts nowhere, and takes its step.",
        ),
        untouched(
            inputs=lambda gen: {"four batches": epochs(gen, "SGD", 0.7)},
            title="Features and labels stay as they are.",
        ),
    ],
)


def trained_there(answer, gen, device, max_norm, times=1):
    """Train on the device: the waits up to the end of each step, and all of them."""
    model, batches, waits = tagger(gen), batches_of(gen, *SIZES), []
    twin = copy.deepcopy(model)
    wanted = written_out(twin, OPTIMIZERS["SGD"](twin), batches * times, max_norm)
    model.to(device)
    there = [(features.to(device), labels.to(device)) for features, labels in batches] * times

    def loader():
        for batch in there:
            yield batch
            waits.append(traffic.syncs + traffic.to_host)

    with count_traffic() as traffic:
        yours = answer.train_epoch(model, OPTIMIZERS["SGD"](model), loader(), max_norm)
    call = f"train_epoch(…, max_norm={max_norm}) on another device"
    for name, right in wanted.items():
        expect_number(yours[name], right, f"{name} from {call}", rtol=2e-5)
    for (name, p), right in zip(model.named_parameters(), twin.parameters(), strict=True):
        expect_close(p.detach().cpu(), right.detach(), f"{name} after {call}", ulps=300.0, scale=1.0)
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
