"""What grades imbalanced_classes: both weights, the decision; absent classes, padding, far logits."""

import math
from functools import partial

import pytest
import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, device, flat_cost, given, values


def weighed(labels, classes, top=lambda total, present, classes: total / classes, inverse=True):
    counts = [int((labels == c).sum()) for c in range(classes)]
    share = top(sum(counts), sum(n > 0 for n in counts), classes)
    return torch.tensor([(share / n if inverse else n / sum(counts)) if n else 0.0 for n in counts])


def of_class(gen, *shape, classes=5, absent=(), padding=0):
    """Labels of unequal numbers, each class once at least but for those that are absent."""
    there = [c for c in range(classes) if c not in absent]
    size = math.prod(shape)
    drawn = torch.randint(0, len(there), (3, size), generator=gen).amin(0)
    labels = torch.tensor(there)[drawn]
    labels[: len(there)] = torch.tensor(there)
    if padding:
        labels[-padding:] = -100
    return given(labels[torch.randperm(size, generator=gen)].view(shape), classes)


weights = Contract(
    "class_weights(labels, classes)",
    reference=weighed,
    inputs=lambda gen: {
        "forty labels": of_class(gen, 40),
        "labels of three classes": of_class(gen, 57, classes=3),
        "labels of seven classes": of_class(gen, 91, classes=7),
    },
    dims="class",
    suspects={
        "this is 1 / count: multiply by labels / classes": partial(weighed, top=lambda *_: 1.0),
        "labels / count is not divided by the number of classes": partial(
            weighed, top=lambda total, present, classes: total
        ),
        "this is the share of each class: rare ones are to weigh more": partial(weighed, inverse=False),
        "they are scaled to a sum of 1": lambda labels, classes: (
            weighed(labels, classes) / weighed(labels, classes).sum()
        ),
        "classes without a label do not count as classes here": partial(
            weighed, top=lambda total, present, classes: total / present
        ),
        "padding counts as labels": lambda labels, classes: weighed(
            labels, classes, top=lambda *_: labels.numel() / classes
        ),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "labels without class 1": of_class(gen, 30, absent=(1,)),
                "labels without the last two classes": of_class(gen, 30, absent=(3, 4)),
            },
            name="absent",
            title="A class without a label has the weight 0, and counts as a class.",
        ),
        values(
            inputs=lambda gen: {
                "a table of labels": of_class(gen, 6, 7),
                "a table of labels with padding": of_class(gen, 6, 7, padding=9),
                "labels with padding": of_class(gen, 31, padding=4),
            },
            name="padding",
            title="Labels may have any shape, and those of -100 count nowhere.",
        ),
        flat_cost(lambda n: given(torch.arange(40) % 4, n + 3), over="classes"),
        device(),
    ],
)


def odds(targets, top=lambda rows, positives: rows - positives, bottom=lambda rows, positives: positives):
    rows, counts = len(targets), [int(n) for n in targets.double().sum(0)]
    return torch.tensor([top(rows, n) / bottom(rows, n) if 0 < n < rows else 1.0 for n in counts])


def columns(gen, rows, count, dtype=torch.float32, spoilt=False):
    """Targets with unequal numbers of positives; if spoilt, a column of zeros and one of ones."""
    order = torch.rand(rows, count, generator=gen).argsort(0)
    many = 1 + torch.randperm(rows - 1, generator=gen)[:count]
    targets = (order < many).to(dtype)
    if spoilt:
        targets[:, 0], targets[:, -1] = 0, 1
    return given(targets)


positives = Contract(
    "positive_weights(targets)",
    reference=odds,
    inputs=lambda gen: {
        "eleven rows": columns(gen, 11, 4),
        "fifty rows": columns(gen, 50, 7),
        "a hundred rows": columns(gen, 100, 5),
    },
    dims="column",
    widens=False,
    suspects={
        "this is rows / positives: negatives / positives is wanted": partial(odds, top=lambda rows, n: rows),
        "this is positives / negatives": partial(
            odds, top=lambda rows, n: n, bottom=lambda rows, n: rows - n
        ),
        "this is the share of negatives": partial(odds, bottom=lambda rows, n: rows),
        "one weight for all columns": lambda targets: odds(targets.reshape(-1, 1)).expand(targets.shape[1]),
    },
    fine=[
        values(
            inputs=lambda gen: {"a column of zeros and one of ones": columns(gen, 9, 4, spoilt=True)},
            name="one_sided",
            title="A column without a positive, or without a negative, has the weight 1.",
        ),
        flat_cost(lambda n: given((torch.arange(12 * n) % 5 == 0).float().view(12, n)), over="columns"),
        device(),
    ],
)


@pytest.mark.fine
@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.int64, torch.uint8, torch.float64, torch.bfloat16], ids=str
)
def test_kinds_of_targets(answer, gen, dtype):
    """Targets may have any dtype, and the weights are float32."""
    [targets] = columns(gen, 700, 3).args
    expect_equal(
        answer.positive_weights(targets.to(dtype)),
        odds(targets),
        f"positive_weights(targets), which are {dtype}",
    )


def decided(logits, threshold, pos_weight=None, bar=None):
    w = torch.ones(()) if pos_weight is None else pos_weight.double()
    least = (
        math.inf if threshold == 1 else -math.inf if threshold == 0 else math.log(threshold / (1 - threshold))
    )
    return logits > (bar(threshold, w) if bar else least + w.log())


def scores(gen, threshold, rows=40, weighs=True):
    w = 0.2 + 5 * torch.rand(3, generator=gen)
    return given(3 * torch.randn(rows, 3, generator=gen), threshold, *([w] if weighs else []))


def logit(p):
    return math.log(p / (1 - p))


decide = Contract(
    "decide(logits, threshold, pos_weight)",
    reference=decided,
    inputs=lambda gen: {
        "threshold=0.2": scores(gen, 0.2),
        "threshold=0.5": scores(gen, 0.5),
        "threshold=0.9": scores(gen, 0.9, 60),
    },
    dims="row column",
    suspects={
        "pos_weight is ignored": partial(decided, bar=lambda t, w: logit(t)),
        "log(w) is subtracted from the bar: training with w raises the logits": partial(
            decided, bar=lambda t, w: logit(t) - w.log()
        ),
        "w is added, and not its logarithm": partial(decided, bar=lambda t, w: logit(t) + w),
        "the threshold is multiplied by w: w belongs to the odds": lambda logits, threshold, pos_weight: (
            logits.sigmoid() > threshold * pos_weight
        ),
        "logits are compared with a probability": partial(decided, bar=lambda t, w: t + w.log()),
        "the threshold is ignored": partial(decided, bar=lambda t, w: w.log()),
        "it says where p is below threshold": lambda *args: ~decided(*args),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "far logits": given(torch.tensor([[18.0, 20.0, 21.0, 40.0]]), 1 - 1e-9),
                "far logits and large weights": given(
                    torch.tensor([[18.0, 20.0], [21.0, 40.0]]), 0.5, torch.tensor([4e8, 1e9])
                ),
            },
            name="far_logits",
            title="Logits whose sigmoid is 1 are still told apart.",
        ),
        values(
            inputs=lambda gen: {
                "threshold=0": scores(gen, 0.0, 4),
                "threshold=1": scores(gen, 1.0, 4),
                "threshold=0, far logits": given(torch.tensor([[-200.0, 300.0]]), 0.0),
                "threshold=1, far logits": given(torch.tensor([[-200.0, 300.0]]), 1.0),
                "threshold=0.25, no weights": scores(gen, 0.25, weighs=False),
            },
            name="ends",
            title="The threshold may be 0 or 1, and pos_weight may be missing.",
        ),
        device(),
    ],
)
