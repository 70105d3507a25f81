"""What grades cross_entropy: the mean, smoothing, what is ignored; -inf, half precision, errors."""

import math

import pytest
import torch

from grader.checks import expect_gradient, expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    errors,
    flat_cost,
    given,
    gradients,
    half_precision,
    strides,
    untouched,
    values,
    without,
)

OWN = (
    "cross_entropy", "cross_entropy_loss", "nll_loss", "nll_loss_nd", "nll_loss2d", "gaussian_nll_loss",
    "kl_div", "binary_cross_entropy", "binary_cross_entropy_with_logits", "multi_margin_loss",
    "linear_cross_entropy",
)  # fmt: skip


def written_out(
    logits,
    targets,
    ignore_index=-100,
    label_smoothing=0.0,
    share=lambda s, classes: (1 - s, s / classes),
    counted=lambda counts: max(1, int(counts.sum())),
    smooths_all=False,
    smooths_raw=False,
):
    """Example by example; what comes behind `label_smoothing` is as people get it wrong."""
    counts, total = targets != ignore_index, 0 * logits.masked_fill(logits.isinf(), 0.0).sum()
    on_target, on_each = share(label_smoothing, logits.shape[1])
    for row, target, does_count in zip(logits, targets.tolist(), counts.tolist(), strict=True):
        surprise = row.logsumexp(0) - row
        if does_count:
            total = total + on_target * surprise[target]
        if on_each and (does_count or smooths_all):
            total = total + on_each * (-row if smooths_raw else surprise).sum()
    return total / counted(counts)


def wrong(**how):
    return lambda *given, **options: written_out(*given, **options, **how)


def batch(gen, examples, classes, *, size=2.0, ignored=(), ignore_index=-100, **options):
    logits = size * torch.randn(examples, classes, generator=gen)
    targets = torch.randint(classes, (examples,), generator=gen)
    if ignored:
        targets[list(ignored)] = ignore_index
    if ignore_index != -100:
        options["ignore_index"] = ignore_index
    return given(logits, targets, **options)


def ruled_out(gen):
    """Logits of -inf that are no targets."""
    logits = torch.randn(4, 5, generator=gen)
    logits[0, 1:3] = logits[2, 4] = logits[3, 0] = -math.inf
    return {"classes that are ruled out": given(logits, torch.tensor([0, 2, 3, 1]))}


def nothing_counts(gen):
    return {
        "all are ignored": batch(gen, 3, 4, ignored=(0, 1, 2)),
        "all are ignored, with smoothing": batch(gen, 3, 4, ignored=(0, 1, 2), label_smoothing=0.2),
        "no examples": batch(gen, 0, 4),
    }


contract = Contract(
    "cross_entropy(logits, targets, ignore_index, label_smoothing)",
    reference=written_out,
    inputs=lambda gen: {
        "five examples": batch(gen, 5, 3),
        "as many examples as classes": batch(gen, 4, 4),
        "a single example": batch(gen, 1, 6),
        "some are ignored": batch(gen, 6, 4, ignored=(1, 4)),
        "ignore_index=255": batch(gen, 5, 3, ignored=(0, 3), ignore_index=255),
        "ignore_index=2": batch(gen, 7, 4, ignored=(5,), ignore_index=2),
        "smoothing": batch(gen, 5, 4, label_smoothing=0.2),
        "smoothing, and some are ignored": batch(gen, 6, 5, ignored=(0, 2), label_smoothing=0.3),
        "logits of 10000": batch(gen, 4, 5, size=1e4),
        "logits of 10000, with smoothing": batch(gen, 4, 5, size=1e4, label_smoothing=0.1),
    },
    gradient="logits",
    suspects={
        "the mean is over all examples: those that are ignored do not count": wrong(
            counted=lambda counts: len(counts)
        ),
        "losses are added up: their mean is asked for": wrong(counted=lambda counts: 1),
        "smoothing is left out": wrong(share=lambda s, classes: (1.0, 0.0)),
        "smoothing is shared by the other classes: all classes, the target too, have a share": wrong(
            share=lambda s, classes: (1 - s - s / (classes - 1), s / (classes - 1))
        ),
        "smoothing is a sum over classes: take their mean": wrong(share=lambda s, classes: (1 - s, s)),
        "smoothing is added to the whole: the target has 1 - s": wrong(
            share=lambda s, classes: (1.0, s / classes)
        ),
        "s and 1 - s are swapped": wrong(share=lambda s, classes: (s, (1 - s) / classes)),
        "smoothing counts for examples that are ignored as well": wrong(smooths_all=True),
        "smoothing takes logits, not their log_softmax": wrong(smooths_raw=True),
        "a softmax goes into another one": lambda logits, *given, **options: written_out(
            logits.softmax(1), *given, **options
        ),
        "nothing is ignored": lambda logits, targets, *given, label_smoothing=0.0, **options: written_out(
            logits, targets.clamp(0, logits.shape[1] - 1), label_smoothing=label_smoothing
        ),
        "the sign is wrong: a loss is above 0": lambda *given, **options: -written_out(*given, **options),
    },
    job=[
        without(*OWN),
        flat_cost(
            {
                "examples": lambda n: given(torch.ones(n, 3), torch.arange(n) % 3, label_smoothing=0.1),
                "classes": lambda n: given(torch.ones(4, n), torch.arange(4), label_smoothing=0.1),
            }
        ),
    ],
    fine=[
        values(inputs=nothing_counts, name="nothing_counts", title="Where nothing counts the loss is 0."),
        values(inputs=ruled_out, name="ruled_out", title="A logit of -inf rules a class out."),
        gradients(
            "logits",
            inputs=ruled_out,
            name="gradients_of_ruled_out",
            title="A class that is ruled out has a gradient of 0.",
        ),
        half_precision(
            inputs=lambda gen: {
                f"{n} examples": batch(gen, n, 7, size=4.0, ignored=(1,), label_smoothing=0.1)
                for n in range(2, 9)
            },
        ),
        dtypes(torch.float64, name="float64", title="float64 stays float64."),
        strides(inputs=lambda gen: {"smoothing": batch(gen, 5, 4, label_smoothing=0.2)}),
        untouched(),
        device(),
        errors(
            (IndexError, ValueError, RuntimeError),
            lambda gen: {
                "a target of 3 of three classes": given(torch.ones(2, 3), torch.tensor([0, 3])),
                "a target of -1": given(torch.ones(2, 3), torch.tensor([0, -1])),
                "a target of -100, where 255 is ignored": given(
                    torch.ones(2, 3), torch.tensor([0, -100]), ignore_index=255
                ),
            },
            name="no_class",
            title="A target that is no class raises an error, -1 too.",
        ),
        errors(
            (ValueError, RuntimeError),
            lambda gen: {
                "label_smoothing=-0.1": given(torch.ones(2, 3), torch.tensor([0, 1]), label_smoothing=-0.1),
                "label_smoothing=1.5": given(torch.ones(2, 3), torch.tensor([0, 1]), label_smoothing=1.5),
                "one target for two examples": given(torch.ones(2, 3), torch.tensor([1])),
                "targets in a column": given(torch.ones(2, 3), torch.tensor([[0], [1]])),
            },
            title="Smoothing beyond 0 and 1, and targets of another shape, raise an error.",
        ),
    ],
)


@pytest.mark.fine
def test_gradients_of_nothing(answer, gen):
    """Where nothing counts the gradients are 0."""
    for smoothing in (0.0, 0.2):
        logits = torch.randn(3, 4, generator=gen, requires_grad=True)
        loss = answer.cross_entropy(logits, torch.full((3,), -100), label_smoothing=smoothing)
        call = "cross_entropy(logits, targets) where all targets are ignored"
        expect_that(loss.requires_grad, f"no gradient flows through {call}: backward() would fail")
        loss.backward()
        expect_gradient(logits.grad, torch.zeros(3, 4), f"{call} for logits")
