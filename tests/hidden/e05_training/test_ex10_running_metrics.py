"""What grades RunningMetrics: any cut into batches, padding, rare classes, large logits, what is kept."""

import gc
import math
import weakref

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_equal, expect_raises, expect_that, unchanged

METRICS = ("loss", "accuracy", "macro_f1")


def judged(logits, labels, classes):
    """The metrics of one batch, counted one by one in plain Python."""
    logits, labels = logits.reshape(-1, classes), labels.reshape(-1)
    kept = [i for i in range(len(labels)) if int(labels[i]) != -100]
    true = [int(labels[i]) for i in kept]
    wide = logits.double() if logits.dtype == torch.float64 else logits.float()
    guess = [max(range(classes), key=lambda c, i=i: float(wide[i, c])) for i in kept]
    losses = [float(F.cross_entropy(wide[i], labels[i])) for i in kept]
    scores = []
    for c in range(classes):
        hits = sum(t == c == g for t, g in zip(true, guess, strict=True))
        both = true.count(c) + guess.count(c)
        if both:
            scores.append(2 * hits / both)
    return {
        "loss": math.fsum(losses) / len(kept),
        "accuracy": sum(t == g for t, g in zip(true, guess, strict=True)) / len(kept),
        "macro_f1": math.fsum(scores) / len(scores),
    }


def expect_metrics(yours, wanted, call, digits=1e-6):
    expect_that(isinstance(yours, dict), f"{call} is no dict", yours=yours)
    expect_equal(sorted(yours), sorted(METRICS), f"the keys of {call}")
    for name in METRICS:
        expect_equal(type(yours[name]).__name__, "float", f"the type of {name} in {call}")
        # A small loss is the difference of two logits: it has their rounding errors.
        tolerance = digits if name == "loss" else 1e-9
        close = math.isclose(yours[name], wanted[name], rel_tol=tolerance, abs_tol=tolerance)
        same = close or (math.isnan(yours[name]) and math.isnan(wanted[name]))
        expect_that(same, f"wrong {name} in {call}", yours=f"{yours[name]:.9g}", wanted=f"{wanted[name]:.9g}")


def batch(gen, *shape, classes=4, dtype=torch.float32):
    logits = 2 * torch.randn(*shape, classes, generator=gen, dtype=torch.float64)
    return logits.to(dtype), torch.randint(0, classes, shape, generator=gen)


def fed(answer, classes, *batches):
    metrics = answer.RunningMetrics(classes)
    for logits, labels in batches:
        metrics.update(logits, labels)
    return metrics


def narrow(value, name="metrics"):
    """The float tensors below float64 that an object keeps, by name."""
    if isinstance(value, torch.Tensor):
        return {name: value.clone()} if value.is_floating_point() and value.element_size() < 8 else {}
    inside = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    pairs = enumerate(value) if isinstance(value, list | tuple) else inside.items()
    return {key: kept for at, part in pairs for key, kept in narrow(part, f"{name}.{at}").items()}


def test_from_logits(answer):
    """The largest logit decides, whatever its size or sign; also with two classes, or one."""
    low = torch.tensor([[-5.0, -2.0, -9.0], [0.1, 0.2, 0.15], [-1.0, -1.5, -2.0], [8.0, 9.0, 9.5]])
    for logits, labels, classes in (
        (low, torch.tensor([1, 1, 2, 2]), 3),
        (torch.tensor([[3.0, 2.0], [0.2, 0.1], [-4.0, -3.0]]), torch.tensor([0, 1, 1]), 2),
        (torch.tensor([[3.0], [-2.0]]), torch.tensor([0, 0]), 1),
    ):
        wanted = judged(logits, labels, classes)
        yours = fed(answer, classes, (logits, labels)).compute()
        expect_metrics(yours, wanted, f"compute() with logits {logits.tolist()} and labels {labels.tolist()}")


def test_rare_classes(answer):
    """A class that never occurs is left out of macro-F1; one that is claimed or missed counts as 0."""
    sure = 5 * torch.eye(5)
    for guess, labels in (
        ([0, 0, 1], [0, 0, 1]),
        ([0, 0, 1], [0, 0, 3]),
        ([2, 2], [2, 2]),
        ([4, 4, 0], [0, 0, 4]),
        ([0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 4, 0]),
    ):
        logits, truth = sure[guess], torch.tensor(labels)
        call = f"compute() with predictions {guess} and labels {labels} of 5 classes"
        expect_metrics(fed(answer, 5, (logits, truth)).compute(), judged(logits, truth, 5), call)
        apart = [(logits[i : i + 1], truth[i : i + 1]) for i in range(len(labels))]
        expect_metrics(fed(answer, 5, *apart).compute(), judged(logits, truth, 5), f"{call}, one at a time")


@pytest.mark.parametrize("sizes", [(12,), (5, 5, 2), (1, 11), (7, 0, 1, 4), (0, 12), (1,) * 12], ids=str)
def test_any_cut(answer, gen, sizes):
    """However the examples are cut into batches, the metrics are those of all of them."""
    logits, labels = batch(gen, 12)
    wanted = judged(logits, labels, 4)
    metrics = fed(answer, 4, *zip(logits.split(sizes), labels.split(sizes), strict=True))
    expect_metrics(metrics.compute(), wanted, f"compute() after batches of {sizes}")


def test_leading_dimensions(answer, gen):
    """Labels of any shape are examples one by one: sequences, a single one, none at all."""
    for shape in [(2, 3), (4, 4), (), (2, 1, 3), (1, 5)]:
        logits, labels = batch(gen, *shape)
        call = f"compute() with labels of shape {shape}"
        expect_metrics(fed(answer, 4, (logits, labels)).compute(), judged(logits, labels, 4), call)
    logits, labels = batch(gen, 3, 5)
    strided = logits.transpose(0, 1), labels.t()
    wanted = judged(logits, labels, 4)
    expect_metrics(fed(answer, 4, strided).compute(), wanted, "compute() with transposed logits")
    inside = torch.cat([torch.zeros(2, 5, 4), logits])[2:], torch.cat([torch.zeros(2, 5).long(), labels])[2:]
    for shape in [(0,), (3, 0), (0, 4)]:
        metrics = fed(answer, 4, batch(gen, *shape), inside, batch(gen, *shape))
        expect_metrics(metrics.compute(), wanted, f"compute() with an update of shape {shape} more")


def test_padding(answer, gen):
    """Examples with the label -100 count nowhere, whatever their logits are."""
    logits, labels = batch(gen, 4, 5)
    labels[1:, 3:] = labels[3] = -100
    wanted = judged(logits, labels, 4)
    logits[labels == -100] = torch.tensor([math.nan, 3.0, math.inf, -math.inf])
    pairs = list(zip(logits, labels, strict=True))
    expect_metrics(fed(answer, 4, (logits, labels)).compute(), wanted, "compute() with padding")
    expect_metrics(fed(answer, 4, *pairs).compute(), wanted, "compute() with padding, row by row")
    nothing = fed(answer, 4, pairs[3], pairs[3])
    expect_raises(ValueError, nothing.compute, "compute() where all is padding")


def test_large_logits(answer, gen):
    """The loss is exact for logits of size 10,000 and -inf, and half precision is computed in float32."""
    large = torch.tensor([[1e4, -1e4, 0.0], [0.0, 1e4, -1e4], [9990.0, 9991.0, -math.inf]])
    labels = torch.tensor([0, 0, 1])
    wanted = {"loss": (0 + 1e4 + math.log1p(math.exp(-1.0))) / 3, "accuracy": 2 / 3}
    wanted["macro_f1"] = (2 / 3 + 2 / 3) / 2
    expect_metrics(fed(answer, 3, (large, labels)).compute(), wanted, "compute() with large logits")
    for dtype in (torch.float16, torch.bfloat16):
        logits, labels = batch(gen, 40, dtype=dtype)
        call = f"compute() with logits in {dtype}"
        expect_metrics(fed(answer, 4, (logits, labels)).compute(), judged(logits, labels, 4), call)


def test_digits(answer, gen):
    """Sums and counts lose nothing: small losses after a huge one, and float64 logits, keep their digits."""
    huge = torch.tensor([[0.0, 1e8]]), torch.tensor([0])
    small = torch.tensor([[0.0, 1.0]]), torch.tensor([0])  # a loss of 1.3133
    yours = fed(answer, 2, huge, *[small] * 30).compute()
    loss = (1e8 + 30 * math.log1p(math.e)) / 31
    expect_metrics(
        yours, {"loss": loss, "accuracy": 0.0, "macro_f1": 0.0}, "compute() after a huge loss", 1e-9
    )
    logits, labels = batch(gen, 9, dtype=torch.float64)
    wanted = judged(logits, labels, 4)
    cut = fed(answer, 4, (logits[:5], labels[:5]), (logits[5:], labels[5:])).compute()
    expect_metrics(cut, wanted, "compute() with float64 logits", 1e-13)
    metrics = fed(answer, 4, batch(gen, 5))  # 2²⁴ examples, where float32 fails, would take too long
    before = narrow(metrics)
    metrics.update(*batch(gen, 9))
    for name, was in before.items():
        now = narrow(metrics).get(name)
        expect_that(
            now is not None and torch.equal(now, was),
            f"{name}, which update(logits, labels) adds to, is {was.dtype}",
            yours=f"{was.dtype}: a count stops at 2²⁴, a sum has seven digits",
            wanted="float64, integers or Python numbers",
        )


def test_compute_in_between(answer, gen):
    """compute changes nothing: it can be called twice, and counting goes on after it."""
    first, second = batch(gen, 5), batch(gen, 3)
    metrics = fed(answer, 4, first)
    for which in ("first", "second"):
        result = metrics.compute()
        expect_metrics(result, judged(*first, 4), f"the {which} compute()")
        result.clear()  # the caller's own
    early = metrics.compute()
    metrics.update(*second)
    together = torch.cat([first[0], second[0]]), torch.cat([first[1], second[1]])
    expect_metrics(metrics.compute(), judged(*together, 4), "compute() after one more update")
    expect_metrics(early, judged(*first, 4), "an earlier result of compute(), after another,")


def test_reset(answer, gen):
    """After reset nothing is left of earlier examples; other objects have their own."""
    first, second = batch(gen, 5), batch(gen, 3)
    metrics, third, other = answer.RunningMetrics(4), answer.RunningMetrics(4), fed(answer, 4, second)
    with torch.inference_mode():  # as a validation runs; reset comes outside
        metrics.update(*first)
        third.update(*first)
    expect_metrics(metrics.compute(), judged(*first, 4), "compute() of one of two objects")
    metrics.reset()
    expect_raises(ValueError, metrics.compute, "compute() right after reset()")
    metrics.update(*second)
    expect_metrics(metrics.compute(), judged(*second, 4), "compute() after reset() and an update")
    expect_metrics(other.compute(), judged(*second, 4), "compute() of an object that was not reset")
    third.update(*second)
    both = tuple(torch.cat(pair) for pair in zip(first, second, strict=True))
    call = "compute() after one update in inference mode and one outside of it"
    expect_metrics(third.compute(), judged(*both, 4), call)


def test_bad_shapes(answer, gen):
    """Logits and labels that do not fit raise ValueError, and nothing is counted."""
    logits, labels = batch(gen, 5)
    metrics = fed(answer, 4, (logits, labels))
    for shape, other in [
        ((5, 3), (5,)),
        ((5, 5), (5,)),
        ((5, 4), (4,)),
        ((5, 4), (5, 1)),
        ((4, 5), (5,)),
        ((5, 4), ()),
        ((1, 4), ()),
        ((4,), (1,)),
        ((2, 10), (5,)),
        ((20,), (5,)),
        ((2, 3, 4), (3, 2)),
        ((2, 3, 4), (6,)),
        ((), ()),
        ((0, 3), (0,)),
    ]:
        call = f"update(logits, labels) of shapes {shape} and {other}, with 4 classes,"
        bad = torch.randn(shape, generator=gen), torch.zeros(other, dtype=torch.int64)
        expect_raises(ValueError, lambda bad=bad: metrics.update(*bad), call)
    expect_metrics(metrics.compute(), judged(logits, labels, 4), "compute() after updates that raised")


def test_nothing_is_kept(answer, gen):
    """update changes nothing of the caller's, and holds on to no tensor and no graph."""
    weight = torch.randn(4, 4, generator=gen, requires_grad=True)
    x, labels = batch(gen, 6)
    labels[2] = -100
    wanted = judged((x @ weight).detach(), labels, 4)
    metrics = answer.RunningMetrics(4)
    saved = []

    class Kept:
        def __init__(self, tensor):
            self.tensor = tensor

    def pack(tensor):
        kept = Kept(tensor)
        saved.append(weakref.ref(kept))
        return kept

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        logits = x @ weight
    tensors = {"logits": weakref.ref(logits), "labels": weakref.ref(labels)}
    with unchanged("update(logits, labels)", logits=logits, labels=labels):
        metrics.update(logits, labels)
    expect_equal(logits.requires_grad, True, "logits.requires_grad after update")
    del logits, labels
    gc.collect()
    expect_that(
        all(ref() is None for ref in saved), "the graph behind the logits is still alive after update"
    )
    for name, tensor in tensors.items():
        expect_that(tensor() is None, f"the {name} are still alive after update")
    expect_metrics(metrics.compute(), wanted, "compute() with logits that carry a graph")
    arrays = [t.numpy() for t in batch(gen, 6)]
    memory = dict(zip(("logits", "labels"), map(weakref.ref, arrays), strict=True))
    metrics.update(*map(torch.from_numpy, arrays))
    del arrays
    gc.collect()
    for name, array in memory.items():
        expect_that(array() is None, f"a view of the {name} is still alive after update")
    logits, labels = batch(gen, 6)
    metrics = fed(answer, 4, (logits, labels))
    wanted = judged(logits, labels, 4)
    logits.zero_()  # the caller reuses the memory
    labels.zero_()
    expect_metrics(metrics.compute(), wanted, "compute() after the caller has overwritten logits and labels")
    expect_equal(torch.is_grad_enabled(), True, "torch.is_grad_enabled() afterwards")


def test_on_a_device(answer, gen, device):
    """Logits and labels may lie on another device."""
    first, second = batch(gen, 5), batch(gen, 2, 3)
    second[1][0] = -100
    together = torch.cat([first[0], second[0].flatten(0, 1)]), torch.cat([first[1], second[1].flatten()])
    there = [tuple(t.to(device) for t in pair) for pair in (first, second)]
    expect_metrics(fed(answer, 4, *there).compute(), judged(*together, 4), "compute() on another device")


def test_nearly_equal_logits(answer):
    """The largest logit wins by however little; where several are equal, the first."""
    logits = torch.tensor([[0.0, 1e-9, -1.0], [2.0, 2.0, 1.0], [-3.0, 0.5, 0.5], [40.0, 0.0, 40.000004]])
    exact = torch.tensor([[1.0, 1 + 1e-12, 0.0], [1 + 1e-12, 1.0, 0.0]], dtype=torch.float64).repeat(2, 1)
    for given in (logits, exact):
        for labels in ([1, 0, 1, 2], [0, 1, 2, 0]):
            truth = torch.tensor(labels)
            call = f"compute() with {given.dtype} logits that nearly tie, and labels {labels}"
            expect_metrics(fed(answer, 3, (given, truth)).compute(), judged(given, truth, 3), call)
    two, truth = torch.tensor([[1.0, 1.0], [0.0, 0.0], [-2.0, 3.0]]), torch.tensor([0, 1, 1])
    call = "compute() with two classes, whose logits tie, and labels [0, 1, 1]"
    expect_metrics(fed(answer, 2, (two, truth)).compute(), judged(two, truth, 2), call)
    five, truth = torch.tensor([[0.0] * 5, [7.0, 9.0, 9.0, 9.0, 9.0]]), torch.tensor([0, 1])
    call = "compute() with five classes, of which four or five tie, and labels [0, 1]"
    expect_metrics(fed(answer, 5, (five, truth)).compute(), judged(five, truth, 5), call)


def test_many_examples(answer):
    """Thousands of examples of one kind are counted, in one batch or two hundred."""
    logits, labels = torch.tensor([[1.0, 0.0]]).expand(42_000, 2), torch.zeros(42_000, dtype=torch.int64)
    labels[::7] = 1
    wanted = {"loss": math.log1p(math.exp(-1.0)) + 1 / 7, "accuracy": 6 / 7, "macro_f1": (12 / 13) / 2}
    for cut, size in ((1, 42_000), (200, 4_200)):
        metrics = fed(answer, 2, *zip(logits[:size].chunk(cut), labels[:size].chunk(cut), strict=True))
        expect_metrics(metrics.compute(), wanted, f"compute() after {size:,} examples in {cut} batches")


def oracle(answer, gen):
    results = []
    for classes in (2, 3, 7):
        metrics = answer.RunningMetrics(classes)
        for size in (4, 1, 0, 6):
            logits, labels = batch(gen, size, classes=classes)
            labels[1:2] = -100
            metrics.update(logits, labels)
            results.append({name: metrics.compute()[name] for name in METRICS})
        metrics.reset()
    return results
