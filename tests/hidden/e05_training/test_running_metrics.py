"""What grades RunningMetrics: loss, accuracy and macro-F1 for any cut; padding, corners, what is kept."""

import math

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_number, expect_raises, expect_that, held_bytes


def batch(gen, *shape, classes=4, dtype=torch.float32):
    """Logits and labels, which name every class where there is room."""
    logits = (2 * torch.randn(*shape, classes, generator=gen, dtype=torch.float64)).to(dtype)
    count = math.prod(shape)
    labels = torch.randint(0, classes, (2, count), generator=gen).amin(0)  # small ones are frequent
    labels[:classes] = torch.arange(classes)[:count]
    return logits, labels[torch.randperm(count, generator=gen)].view(shape)


def cut(pair, sizes):
    return list(zip(pair[0].split(sizes), pair[1].split(sizes), strict=True))


def fed(answer, *batches, classes=4):
    metrics = answer.RunningMetrics(classes)
    for logits, labels in batches:
        metrics.update(logits, labels)
    return metrics


def examples(batches, padding=False):
    """All examples in one batch, but for `padding`."""
    logits = torch.cat([x.double().flatten(0, -2) for x, _ in batches])
    labels = torch.cat([y.flatten() for _, y in batches])
    counted = (labels != -100) | padding
    return logits[counted], labels[counted]


def accuracy(batches):
    logits, labels = examples(batches)
    return (logits.argmax(-1) == labels).double().mean().item()


def loss(batches):
    return F.cross_entropy(*examples(batches)).item()


def macro_f1(batches, predicted=1.0, true=1.0, weighted=False, classes=(), padding=False):
    """Or with a mistake: the mean precision or recall, weighted by labels, over all classes, with padding."""
    logits, labels = examples(batches, padding)
    guess, labels = logits.argmax(-1).tolist(), labels.tolist()
    found, weights = [], []
    for c in {*guess, *labels, *classes} - {-100}:
        hits = sum(g == t == c for g, t in zip(guess, labels, strict=True))
        found.append(2 * hits / max(predicted * guess.count(c) + true * labels.count(c), 1e-9))
        weights.append(labels.count(c) if weighted else 1)
    return sum(f * w for f, w in zip(found, weights, strict=True)) / sum(weights)


METRICS = {"accuracy": accuracy, "loss": loss, "macro_f1": macro_f1}


def mistakes(name, batches):
    metric, rows = METRICS[name], len(examples(batches)[1])
    own = {
        "accuracy": {
            "a probability above one half decides: the largest logit does, whatever it is": lambda: accuracy(
                [((x.softmax(-1) > 0.5).float(), y) for x, y in batches]
            ),
            "the smallest logit decides": lambda: accuracy([(-x, y) for x, y in batches]),
        },
        "loss": {
            "softmax comes before cross_entropy, which has it inside": lambda: loss(
                [(x.softmax(-1), y) for x, y in batches]
            ),
            "the batches' means are added up, and divided by the number of examples": lambda: (
                sum(loss([b]) for b in batches) / rows
            ),
        },
        "macro_f1": {
            "this is the accuracy (micro-F1): each class has its own F1": lambda: accuracy(batches),
            "this is weighted by how often a class occurs": lambda: macro_f1(batches, weighted=True),
            "this is the mean precision": lambda: macro_f1(batches, predicted=2, true=0),
            "this is the mean recall": lambda: macro_f1(batches, predicted=0, true=2),
            "classes that occur nowhere count as well": lambda: macro_f1(batches, classes=range(5)),
            "predictions on padding count": lambda: macro_f1(batches, padding=True),
            "this is the mean of the batches' macro-F1, weighted by their sizes": lambda: (
                sum(macro_f1([b]) * len(examples([b])[1]) for b in batches) / rows
            ),
        },
    }
    return {
        "this is the mean of the batches' results": lambda: sum(metric([b]) for b in batches) / len(batches),
        "the last batch alone counts": lambda: metric(batches[-1:]),
        "this is the sum over the examples": lambda: metric(batches) * rows,
        **own[name],
    }


def expect_metrics(metrics, batches, call, names=tuple(METRICS), rtol=1e-5, times=None):
    """`times` tells mistakes that give so many times the result."""
    for name in names:
        yours, wanted, suspects = metrics.compute()[name], METRICS[name](batches), mistakes(name, batches)
        suspects |= {told: lambda factor=f, w=wanted: factor * w for told, f in (times or {}).items()}
        expect_number(yours, wanted, f"{name} from {call}", rtol=rtol, atol=rtol, suspects=suspects)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("sizes", [(16,), (7, 7, 2), (1, 15), (1,) * 16], ids=str)
def test_any_cut(answer, gen, sizes, name):
    """However the examples are cut into batches, each metric is that of all of them."""
    batches = cut(batch(gen, 16), sizes)
    expect_metrics(fed(answer, *batches), batches, f"compute() after batches of {sizes}", [name])


def test_largest_logit(answer, gen):
    """The largest logit decides, also below 0 and where no probability is above one half."""
    logits, labels = batch(gen, 16)
    batches = [(logits / 8 - 3, labels)]
    expect_metrics(fed(answer, *batches), batches, "compute() with logits of -3 and about", ["accuracy"])


def test_compute_in_between(answer, gen):
    """compute changes nothing: it can be called twice, and counting goes on after it."""
    first, second = batch(gen, 9), batch(gen, 4)
    metrics = fed(answer, first)
    for which in ("first", "second"):
        expect_metrics(metrics, [first], f"the {which} compute()")
    metrics.update(*second)
    expect_metrics(metrics, [first, second], "compute() after one more update")


def test_reset(answer, gen):
    """After reset nothing is left of earlier examples; other objects have their own."""
    first, second = batch(gen, 9), batch(gen, 8)
    metrics, other = fed(answer, first), fed(answer, second)
    metrics.reset()
    metrics.update(*first)
    call = "compute() after an update, reset() and the same update"
    expect_metrics(metrics, [first], call, times={"reset() leaves what was added up before it": 2})
    expect_metrics(other, [second], "compute() of an object that was not reset")


@pytest.mark.fine
@pytest.mark.parametrize("guess, labels", [([0, 0, 1], [0, 0, 1]), ([0, 0, 1], [0, 0, 3]), ([4, 0], [0, 4])])
def test_absent_classes(answer, guess, labels):
    """A class that nobody predicted and no label names is left out of macro-F1; others count."""
    pair = 5 * torch.eye(5)[guess], torch.tensor(labels)
    call = f"compute() with predictions {guess} and labels {labels} of 5 classes"
    expect_metrics(fed(answer, pair, classes=5), [pair], call, ["macro_f1"])


@pytest.mark.fine
def test_padding(answer, gen):
    """Examples with the label -100 count nowhere, whatever their logits are."""
    logits, labels = batch(gen, 20)
    logits[0, labels[0]] = 9.0  # at least one is found
    labels[5:11] = -100
    logits[5:9] = 9 * torch.eye(4)  # a prediction of each class
    logits[9:11] = torch.tensor([math.nan, 3.0, math.inf, -math.inf])
    batches = cut((logits, labels), (8, 12))
    expect_metrics(fed(answer, *batches), batches, "compute() with padding")


@pytest.mark.fine
def test_leading_dimensions(answer, gen):
    """Labels of any shape are examples one by one: sequences, or a single one."""
    sequences, square, (logits, label) = batch(gen, 2, 3), batch(gen, 4, 4), batch(gen)
    metrics = fed(answer, sequences, square, (logits, label))
    call = "compute() after labels of shapes (2, 3), (4, 4) and ()"
    expect_metrics(metrics, [sequences, square, (logits[None], label[None])], call)


@pytest.mark.fine
@pytest.mark.parametrize("rows", [0, 3], ids=["empty", "padding"])
def test_no_examples(answer, gen, rows):
    """A call without examples, or with nothing but padding, counts as nothing."""
    pair, nothing = batch(gen, 9), (torch.zeros(rows, 4), torch.full((rows,), -100))
    call = f"compute() after batches of {rows} of padding, 9 and {rows} of padding"
    expect_metrics(fed(answer, nothing, pair, nothing), [pair], call)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_dtypes(answer, gen, dtype):
    """Half-precision logits are computed in float32, and float64 logits keep their digits."""
    pair, rtol = batch(gen, 40, dtype=dtype), 1e-12 if dtype == torch.float64 else 1e-5
    expect_metrics(fed(answer, pair), [pair], f"compute() with logits in {dtype}", ["loss"], rtol)


@pytest.mark.fine
def test_large_logits(answer):
    """The loss is exact for logits of size 10,000."""
    pair = torch.tensor([[1e4, -1e4, 0.0], [0.0, 1e4, -1e4]]), torch.tensor([0, 0])
    expect_metrics(fed(answer, pair, classes=3), [pair], "compute() with logits of size 10,000", ["loss"])


@pytest.mark.fine
def test_digits_of_the_sum(answer):
    """Small losses after a huge one still count."""
    huge, small = ((torch.tensor([[0.0, last]]), torch.tensor([0])) for last in (1e8, 1.0))
    batches = [huge, *[small] * 30]
    expect_metrics(fed(answer, *batches, classes=2), batches, "compute() after a huge loss", ["loss"], 1e-9)


@pytest.mark.fine
def test_nothing_is_kept(answer, gen):
    """After update neither logits nor labels nor a graph are alive."""
    weight, metrics = torch.randn(4, 4, generator=gen, requires_grad=True), answer.RunningMetrics(4)

    def update():
        logits, labels = batch(gen, 1000)
        metrics.update(logits @ weight, labels)

    likely = "a loss that holds its graph, or logits or labels in a list"
    few = held_bytes(update) < 4000
    expect_that(few, "after update(logits, labels) what it was given is still alive", likely=likely)


@pytest.mark.fine
def test_on_a_device(answer, gen, device):
    """Logits and labels may lie on another device."""
    batches = [batch(gen, 5), batch(gen, 7)]
    there = [(x.to(device), y.to(device)) for x, y in batches]
    expect_metrics(fed(answer, *there), batches, "compute() after updates on another device")


@pytest.mark.fine
def test_bad_shapes(answer, gen):
    """Logits and labels that do not fit raise ValueError, and nothing is counted."""
    pair = batch(gen, 9)
    metrics = fed(answer, pair)
    for shape, other in [((5, 3), (5,)), ((5, 5), (5,)), ((5, 4), (4,)), ((5, 4), (5, 1)), ((2, 3, 4), (6,))]:
        call = f"update(logits, labels) of shapes {shape} and {other}, with 4 classes,"
        bad = torch.randn(shape, generator=gen), torch.zeros(other, dtype=torch.int64)
        expect_raises((ValueError, RuntimeError), lambda bad=bad: metrics.update(*bad), call)
    expect_metrics(metrics, [pair], "compute() after updates that raised")


@pytest.mark.fine
def test_nothing_counted(answer):
    """Without examples, compute raises ValueError."""
    call = "RunningMetrics(3).compute() without an update"
    expect_raises(ValueError, lambda: answer.RunningMetrics(3).compute(), call)


def oracle(answer, gen):
    def computed(metrics, *names):
        found = metrics.compute()
        return [found[name] for name in names]

    def at_the_end(name):
        return lambda gen: computed(fed(answer, *cut(batch(gen, 23), (9, 9, 5))), name)

    def after_each(gen):
        metrics, found = answer.RunningMetrics(2), []
        for logits, labels in cut(batch(gen, 13, classes=2), (6, 1, 6)):
            metrics.update(logits, labels)
            found += computed(metrics, "accuracy", "loss", "macro_f1")
        return found

    def after_a_reset(gen):
        used = fed(answer, batch(gen, 9))
        used.reset()
        for pair in cut(batch(gen, 11), (8, 3)):
            used.update(*pair)
        return computed(used, "accuracy", "loss", "macro_f1")

    return {
        "the accuracy of three batches": at_the_end("accuracy"),
        "the loss of three batches": at_the_end("loss"),
        "macro_f1 of three batches": at_the_end("macro_f1"),
        "all three after each batch": after_each,
        "all three after a reset": after_a_reset,
    }
