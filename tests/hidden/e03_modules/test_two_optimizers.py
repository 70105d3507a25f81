"""What grades two_optimizers: losses and weights of some steps; gradients, batch norm, modes."""

import copy
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal
from grader.checks.contract import Contract, given, hooks, modes, runs, untouched, values
from grader.checks.registered import randomize

OPTIMIZERS = {
    "SGD": partial(torch.optim.SGD, lr=0.2),
    "SGD with momentum": partial(torch.optim.SGD, lr=0.1, momentum=0.8, weight_decay=0.1),
    "Adam": partial(torch.optim.Adam, lr=0.05),
}


def network(gen, *sizes, norm=False):
    first, hidden, last = sizes
    between = [nn.BatchNorm1d(hidden)] if norm else []
    model = nn.Sequential(nn.Linear(first, hidden), *between, nn.Tanh(), nn.Linear(hidden, last)).double()
    randomize(model, gen)
    return model


def steps(gen, kind="SGD", count=3, norm=False, left=None):
    """Steps with batches of five; `left` lies in `.grad` before."""
    generator, discriminator = network(gen, 3, 4, 2, norm=norm), network(gen, 2, 5, 1, norm=norm)
    for p in (*generator.parameters(), *discriminator.parameters()) if left else ():
        p.grad = torch.full_like(p, left)
    optimizers = (OPTIMIZERS[kind](net.parameters()) for net in (generator, discriminator))
    real, noise = ([torch.randn(5, n, generator=gen).double() for _ in range(count)] for n in (2, 3))
    return given(generator, discriminator, *optimizers, real, noise)


def bce(logits, label):
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, label))


def written_out(
    generator,
    discriminator,
    g_optimizer,
    d_optimizer,
    reals,
    noises,
    labels=(1.0, 0.0),
    size=1.0,
    clear=True,
    leak=False,
    old=False,
    still=False,
    first=False,
    judge=bce,
    fool=None,
):
    """All losses in a row; what comes after `noises` is as people get it wrong."""
    found = []
    for real, noise in zip(reals, noises, strict=True):
        fake = generator(noise)
        for optimizer in (g_optimizer, d_optimizer) if clear else ():
            optimizer.zero_grad()
        before = copy.deepcopy(discriminator) if old else discriminator
        parts = (
            judge(discriminator(real), labels[0]),
            judge(discriminator(fake if leak else fake.detach()), labels[1]),
        )
        d_loss = size * (parts[0] + parts[1])
        d_loss.backward(retain_graph=True)
        d_optimizer.step()
        logits = before(fake.detach() if still else fake)
        g_loss = fool(logits) if fool else judge(logits, labels[0])
        if clear and not leak:
            g_optimizer.zero_grad()
        if not still:
            g_loss.backward(inputs=None if not clear else list(generator.parameters()))
            g_optimizer.step()
        found += [d_loss.item(), g_loss.item()]
    return found


def wrong(**how):
    return partial(written_out, **how)


def through(answer, *given):
    *networks, reals, noises = given
    return [
        float(loss)
        for real, noise in zip(reals, noises, strict=True)
        for loss in answer.gan_step(*networks, real, noise)
    ]


contract = Contract(
    "gan_step(generator, discriminator, g_optimizer, d_optimizer, real, noise)",
    reference=written_out,
    use=through,
    inputs=lambda gen: {f"three steps with {kind}": steps(gen, kind) for kind in OPTIMIZERS},
    after="generator discriminator",
    ulps=1e3,
    scale=1.0,
    suspects={
        "d_loss has moved the generator as well: fake is to be detached": wrong(leak=True),
        "gradients of earlier steps count: clear them before each backward": wrong(clear=False),
        "g_loss is taken with the discriminator as it was before its step": wrong(old=True),
        "the labels are swapped: 1 is for real samples": wrong(labels=(0.0, 1.0)),
        "d_loss is halved": wrong(size=0.5),
        "g_loss is -bce(discriminator(fake), 0)": wrong(fool=lambda logits: -bce(logits, 0.0)),
        "g_loss is bce(discriminator(fake), 0): the generator helps the discriminator": wrong(
            fool=lambda logits: bce(logits, 0.0)
        ),
        "the generator does not learn: fake is detached in g_loss as well": wrong(still=True),
        "bce takes the sigmoid itself: it is there twice": wrong(
            judge=lambda logits, label: bce(logits.sigmoid(), label)
        ),
        "losses are added up over samples: their mean is asked for": wrong(
            judge=lambda logits, label: len(logits) * bce(logits, label)
        ),
    },
    job=[
        values(title="Losses and weights of some steps are right, with different optimizers."),
        runs(inputs=lambda gen: [steps(gen, count=1)], generator=1, name="generator_runs_once"),
    ],
    fine=[
        values(
            inputs=lambda gen: {"gradients of 10 before the first step": steps(gen, count=2, left=10.0)},
            name="leftover_gradients",
            title="What lies in `.grad` before has no influence.",
        ),
        values(
            inputs=lambda gen: {"a single step": steps(gen, count=1)},
            after="generator.grad discriminator.grad",
            name="gradients_after",
            title="Afterwards each network's gradients are those of its own loss.",
        ),
        values(
            inputs=lambda gen: {"two steps, with batch norm in both": steps(gen, count=2, norm=True)},
            name="batch_norm",
            title="Batch norms count real, fake and fake, each as a batch.",
        ),
        modes(inputs=lambda gen: [steps(gen, count=1, norm=True)]),
        hooks(inputs=lambda gen: [steps(gen, count=1)]),
        untouched(inputs=lambda gen: [steps(gen, count=1)]),
    ],
)


@pytest.mark.fine
def test_one_backward_of_the_generator(answer, gen):
    """Only g_loss goes back through the generator."""
    call = steps(gen, count=1)
    counts = []
    for p in call.args[0][:1].parameters():
        p.register_hook(lambda grad: counts.append(1))
    through(answer, *call.args)
    expect_equal(len(counts), 2, "the gradients that come back to the generator's first weight and bias")
