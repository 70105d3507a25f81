"""What grades kl_losses: both divergences and their gradients; zeros, -inf, more dims, half precision."""

import math
from functools import partial

import pytest
import torch

from grader.checks import expect_equal, expect_gradient
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    given,
    gradients,
    half_precision,
    untouched,
    values,
)


def rows_of(terms):
    return terms.sum(-1).mean()


def diverged(p, logits, terms=None, log_q=lambda logits: logits.log_softmax(-1), total=rows_of):
    """From p to softmax(logits); what comes after `logits` is as people get it wrong."""
    log = log_q(logits)
    if terms is None:
        found = torch.where(p > 0, p * (p.clamp(min=1e-300).log() - log.masked_fill(p == 0, 0.0)), 0.0)
    else:
        found = terms(p, log)
    return total(found)


def apart(
    mean,
    log_variance,
    prior=None,
    half=0.5,
    scale=1.0,
    total=rows_of,
    variance=torch.exp,
    log=lambda v: v,
    near=lambda n, w: (n, w),
    narrow=torch.exp,
    swapped=False,
):
    """From a Gaussian to its prior; what comes after `prior` is as people get it wrong."""
    m, v = mean, scale * log_variance
    n, w = near(*prior) if prior is not None else (0 * m, 0 * v)
    if swapped:
        m, v, n, w = n, w, m, v
    d = v - w
    return total(half * (variance(d) + (m - n).square() / narrow(w) - 1 - log(d)))


def labels(gen, *shape, size=2.0):
    p = (1.5 * torch.randn(shape, generator=gen)).softmax(-1)
    return given(p, size * torch.randn(shape, generator=gen))


def codes(gen, *shape, prior=False):
    mean, log_variance, n, w = (torch.randn(shape, generator=gen) for _ in range(4))
    return given(mean, log_variance, **({"prior": (n, w)} if prior else {}))


def one_hot(gen, *shape, value=None):
    """Labels with zeros in them; the logits there are `value`."""
    call = labels(gen, *shape)
    p = call.args[0].masked_fill(torch.rand(shape, generator=gen) < 0.4, 0.0)
    p[..., 0] = 0.2 + p[..., 0]
    p[..., -1] = 0.0
    logits = call.args[1] if value is None else call.args[1].masked_fill(p == 0, value)
    return given(p / p.sum(-1, keepdim=True), logits)


def zeros(gen):
    return {
        "labels with zeros": one_hot(gen, 4, 6),
        "zeros where the logit is -inf": one_hot(gen, 4, 6, value=-math.inf),
    }


categorical_kl = Contract(
    "categorical_kl(p, logits)",
    reference=diverged,
    inputs=lambda gen: {
        "five rows": labels(gen, 5, 3),
        "as many rows as classes": labels(gen, 4, 4),
        "a row": labels(gen, 1, 6),
        "more classes than rows": labels(gen, 3, 7),
    },
    gradient="logits",
    ulps=100,
    scale=4.0,
    suspects={
        "it is divided by all numbers, not by the rows: reduction='batchmean' divides by the rows": partial(
            diverged, total=lambda terms: terms.mean()
        ),
        "it is a sum over rows: their mean is asked for": partial(diverged, total=lambda terms: terms.sum()),
        "this is KL(q ‖ p): F.kl_div takes log q first, then p": partial(
            diverged, terms=lambda p, log: log.exp() * (log - p.log())
        ),
        "p stands where log q belongs: F.kl_div takes log q first": partial(
            diverged, terms=lambda p, log: log.exp() * (log - p)
        ),
        "q stands where log q belongs: F.kl_div takes a logarithm": partial(
            diverged, log_q=lambda logits: logits.softmax(-1)
        ),
        "logits are taken for logarithms of probabilities: log_softmax makes these": partial(
            diverged, log_q=lambda logits: logits
        ),
        "log_target=True wants log p": partial(diverged, terms=lambda p, log: p.exp() * (p - log)),
        "this is the cross-entropy: p · log p is missing": partial(diverged, terms=lambda p, log: -p * log),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "three dimensions": labels(gen, 2, 3, 4),
                "no batch": labels(gen, 5),
                "four dimensions": labels(gen, 2, 1, 3, 4),
            },
            name="other_shapes",
            title="There may be more dims before the last, or none: the mean is over all rows.",
        ),
        values(inputs=zeros, name="zeros", title="A probability of 0 adds 0, also where the logit is -inf."),
        gradients("logits", inputs=zeros, name="gradient_at_zeros", title="There no gradient is NaN."),
        values(
            inputs=lambda gen: {"logits of 1000": labels(gen, 4, 5, size=1000.0)},
            name="large_logits",
            title="Logits of 1000 are harmless.",
        ),
        half_precision(inputs=lambda gen: {f"a row of {n}": labels(gen, 1, n) for n in range(3, 15)}),
        dtypes(torch.float64, name="float64", title="float64 stays float64."),
        untouched(),
        device(),
    ],
)
gaussian_kl = Contract(
    "gaussian_kl(mean, log_variance, prior)",
    reference=apart,
    inputs=lambda gen: {
        "five rows": codes(gen, 5, 3),
        "as many rows as features": codes(gen, 4, 4),
        "a row": codes(gen, 1, 6),
        "five rows, with a prior": codes(gen, 5, 3, prior=True),
        "more features than rows, with a prior": codes(gen, 3, 7, prior=True),
    },
    gradient="mean log_variance",
    ulps=100,
    scale=10.0,
    suspects={
        "the half is missing": partial(apart, half=1.0),
        "the mean is over all numbers: add up the features of a row first": partial(
            apart, total=lambda terms: terms.mean()
        ),
        "it is a sum over rows: their mean is asked for": partial(apart, total=lambda terms: terms.sum()),
        "log_variance is taken for the logarithm of the standard deviation": partial(apart, scale=2.0),
        "log_variance is taken for the variance": partial(apart, variance=lambda d: d, log=torch.log),
        "the sign is wrong": partial(apart, half=-0.5),
        "the prior has no effect": lambda mean, log_variance, prior=None: apart(mean, log_variance),
        "the prior's variance has no effect": partial(apart, near=lambda n, w: (n, 0 * w)),
        "the squared distance is not divided by the prior's variance": partial(apart, narrow=torch.ones_like),
        "this is KL(prior ‖ p)": partial(apart, swapped=True),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "three dimensions": codes(gen, 2, 3, 4),
                "no batch": codes(gen, 5),
                "three dimensions, with a prior": codes(gen, 3, 2, 4, prior=True),
            },
            name="other_shapes",
            title="There may be more dims before the last, or none: the mean is over all rows.",
        ),
        half_precision(inputs=lambda gen: {f"a row of {n}": codes(gen, 1, n) for n in range(3, 15)}),
        dtypes(torch.float64, name="float64", title="float64 stays float64."),
        untouched(),
        device(),
    ],
)


@pytest.mark.fine
def test_prior_learns(answer, gen):
    """Gradients flow to the prior's mean and log_variance."""
    m, v, n, w = (torch.randn(4, 3, generator=gen).double() for _ in range(4))
    leaves = [t.clone().requires_grad_() for t in (n, w)]
    apart(m, v, tuple(leaves)).backward()
    yours = [t.clone().requires_grad_() for t in (n, w)]
    loss = answer.gaussian_kl(m, v, prior=tuple(yours))
    expect_equal(loss.requires_grad, True, "whether gaussian_kl(m, v, prior=(n, w)) has a graph to the prior")
    loss.backward()
    for mine, right, name in zip(yours, leaves, ("mean", "log_variance"), strict=True):
        expect_gradient(mine.grad, right.grad, f"gaussian_kl(m, v, prior) for the prior's {name}")
