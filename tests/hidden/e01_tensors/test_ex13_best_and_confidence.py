"""What grades best_and_confidence: index and value, shapes, dtypes, close and extreme logits, gradients."""

import math

import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_that,
    unchanged,
)
from grader.checks.devices import count_traffic, on_host

CALL = "best_and_confidence(logits)"


def draw(sizes, gen, dtype=torch.float32):
    """Logits whose largest one in each row stands clear of the others."""
    logits = torch.randn(sizes, generator=gen, dtype=torch.float64)
    winner = torch.randint(sizes[-1], (*sizes[:-1], 1), generator=gen)
    return logits.scatter(-1, winner, logits.amax(-1, keepdim=True) + 0.5).to(dtype)


def exact(logits):
    """In float64, by comparison with the largest logit; and what mistakes make of the confidence."""
    is_best = logits == logits.amax(-1, keepdim=True)
    best = (is_best * torch.arange(logits.shape[-1])).sum(-1)

    def at_best(scores):
        return scores.masked_fill(~is_best, 0.0).sum(-1)

    mistakes = {
        "softmax runs over the first dimension: dim=-1 is the classes": lambda: at_best(logits.softmax(0)),
        "the largest logit itself: softmax makes a probability of it": lambda: at_best(logits),
        "sigmoid takes each class by itself: softmax is over all of them": lambda: at_best(logits.sigmoid()),
    }
    return best, at_best(logits.double().softmax(-1)), mistakes


def expect_pair(yours, wanted, dtype, about, dims="", **tolerance):
    expect_that(
        isinstance(yours, tuple) and len(yours) == 2, f"{CALL} does not return a tuple of two", yours=yours
    )
    expect_equal(yours[0], wanted[0], f"best of {about}", dims=dims)
    expect_close(
        yours[1], wanted[1].to(dtype), f"confidence of {about}", dims=dims, suspects=wanted[2], **tolerance
    )


def test_best_and_its_probability(answer, gen):
    """best is the number of the largest logit, confidence its softmax over the classes."""
    for sizes in [(4, 3), (3, 5), (4, 4)]:
        logits = draw(sizes, gen)
        wanted = exact(logits)
        expect_pair(answer.best_and_confidence(logits), wanted, torch.float32, f"{CALL} for {sizes}", "batch")


def test_any_dimensions_before_the_classes(answer, gen):
    """Classes lie along the last dimension, whatever stands before it, also nothing."""
    for sizes in [(2, 3, 5), (5,), (2, 3, 1, 2, 4)]:
        logits = draw(sizes, gen)
        wanted = exact(logits)
        expect_pair(answer.best_and_confidence(logits), wanted, torch.float32, f"{CALL} for {sizes}")


def test_sizes_of_one_and_empty(answer, gen):
    """A batch of one, a single class and an empty batch keep their dimensions."""
    cut = []
    for sizes in [(1, 4), (4, 1), (1, 1), (3, 1, 4), (0, 4), (2, 0, 3), (0, 2, 3), (0, 0, 3)]:
        dtype = torch.float64 if 0 in sizes[1:] else torch.float32
        logits = draw(sizes, gen, dtype)
        wanted = exact(logits)
        yours = answer.best_and_confidence(logits.requires_grad_())
        expect_pair(yours, wanted, dtype, f"{CALL} for {sizes}")
        if not yours[1].requires_grad:
            cut.append(sizes)
    expect_equal(cut, [], f"the shapes of logits for which confidence of {CALL} is not part of the graph")


def test_dtypes(answer, gen):
    """best is int64, and confidence has the dtype of logits."""
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        logits = draw((4, 5), gen, dtype)
        wanted = exact(logits)
        expect_pair(answer.best_and_confidence(logits), wanted, dtype, f"{CALL} for {dtype}", "batch")
    many = torch.zeros(2, 2054, dtype=torch.float16)
    many[range(2), [2051, 2053]] = 9.0
    wanted = exact(many)
    expect_pair(answer.best_and_confidence(many), wanted, many.dtype, f"{CALL} for 2054 classes in float16")


def close_logits():
    """The largest of each row stands out in its dtype, but neither in a narrower one nor after softmax."""
    tiny = torch.full((4, 5), 1e-20)
    tiny[range(4), [3, 1, 4, 2]] = 2e-20
    narrow = torch.full((3, 5), 0.1, dtype=torch.bfloat16)
    narrow[range(3), [2, 4, 1]] = 0.1006
    wide = torch.ones(3, 5, dtype=torch.float64)
    wide[range(3), [4, 1, 2]] += 2.3e-16
    low = torch.full((2, 5), -30.0)
    low[range(2), [3, 1]] += 4e-6
    return tiny, narrow, wide, low


def test_close_logits(answer):
    """best is decided by the logits, also where their probabilities round to the same number."""
    for logits in close_logits():
        wanted = exact(logits)
        expect_pair(
            answer.best_and_confidence(logits), wanted, logits.dtype, f"{CALL} for close logits", "batch"
        )


def test_large_and_forbidden_logits(answer):
    """Logits of 10000, and classes ruled out by -inf, give finite probabilities."""
    inf = math.inf
    rows = [
        [1e4, 9999.0, 0.0],
        [-1e4, -1e4 - 1, -2e4],
        [-inf, 1.0, -inf],
        [2.0, -inf, 3.0],
        [-90.0, -200.0, -91.0],
        [-inf, -1e4, -1e4 - 1],
        [1e4, -1e4, 9999.5],
    ]
    logits = torch.tensor(rows)
    wanted = exact(logits)
    yours = answer.best_and_confidence(logits)
    expect_pair(yours, wanted, torch.float32, f"{CALL} for extreme logits", "batch")


def large_logits():
    """Of either sign, with one class a little or far above the others."""
    for height, gap in ((1000.0, 4.0), (-1000.0, 4.0), (1000.0, 24.0)):
        logits = torch.full((3, 30), height - gap)
        logits[range(3), [7, 0, 29]] = height
        logits[0, :5] = -math.inf
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            yield height, logits.to(dtype), exact(logits.to(dtype))


LARGE = list(large_logits())


def test_large_logits_in_every_dtype(answer):
    """Large logits, of either sign, cost the confidence none of its digits, nor does one close to 1."""
    for height, logits, wanted in LARGE:
        about = f"{CALL} for {logits.dtype} logits near {height:g}"
        expect_pair(answer.best_and_confidence(logits.clone()), wanted, logits.dtype, about, "batch")


def test_many_classes(answer):
    """A small probability, among hundreds of classes, has its digits too: it is not what is left of 1."""
    logits = torch.full((2, 300), 0.25)
    logits[range(2), [7, 299]] = 0.75
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        low = logits.to(dtype)
        wanted, about = exact(low), f"{CALL} for 300 classes in {dtype}"
        expect_pair(answer.best_and_confidence(low), wanted, dtype, about, "batch")


def test_strided_logits(answer, gen):
    """Transposed and expanded logits are read like any others, and nothing is changed in them."""
    strided = draw((2, 3, 4), gen, torch.float64)[:, ::2]
    for logits in (draw((5, 4), gen).t(), draw((1, 5), gen).expand(3, 5), strided):
        wanted = exact(logits)
        with unchanged(CALL, logits=logits):
            yours = answer.best_and_confidence(logits)
        expect_pair(yours, wanted, logits.dtype, f"{CALL} for strided logits")


def test_gradient(answer, gen):
    """Gradients flow from confidence to all logits of a row, with none and with many dimensions before."""
    call = f"the confidence of {CALL}"
    fn, reference = (lambda x: answer.best_and_confidence(x)[1]), (lambda x: exact(x)[1])
    for sizes in [(4,), (2, 1)]:
        expect_gradients(fn, [draw(sizes, gen)], reference, gen=gen, call=call, names="logits")
    ruled_out = draw((2, 3, 4), gen)
    ruled_out[0] = ruled_out[0].masked_fill(ruled_out[0] == ruled_out[0].amin(-1, keepdim=True), -math.inf)
    expect_gradients(
        fn, [ruled_out], reference, gen=gen, call=f"{call} with classes ruled out", names="logits"
    )


def test_gradient_for_close_logits(answer, gen):
    """The gradient is that of the best class alone, also where its probability rounds to another's."""
    fn, reference = (lambda x: answer.best_and_confidence(x)[1]), (lambda x: exact(x)[1])
    for logits in close_logits()[:3]:
        call = f"the confidence of {CALL} for close {logits.dtype} logits"
        expect_gradients(fn, [logits], reference, gen=gen, call=call, names="logits")


def test_stays_on_the_device(answer, device, gen):
    """Logits on another device are read there: no number is copied to the host."""
    for sizes in [(4, 5), (5,)]:
        logits = draw(sizes, gen)
        wanted = exact(logits)
        there = logits.to(device)
        with count_traffic() as traffic:
            best, confidence = answer.best_and_confidence(there)
        devices = best.device, confidence.device
        expect_equal(devices, (there.device, there.device), "the devices of best and confidence")
        expect_pair((on_host(best), on_host(confidence)), wanted, torch.float32, f"{CALL} for {sizes}")
        copies = traffic.to_host + traffic.syncs
        expect_equal(copies, 0, f"the number of copies to the host, and waits for one, by {CALL} for {sizes}")


def test_no_loop(answer, gen):
    """The cost is the same for 4 rows and for 12, along each dimension before the classes."""

    def make(n):
        rows, table = draw((n, 3), gen), draw((n, n, 3), gen)
        return lambda: (answer.best_and_confidence(rows), answer.best_and_confidence(table))

    expect_flat_cost(make, CALL, sizes=(4, 12), over="batch")  # of a table, 144 rows


def oracle(answer, gen):
    logits = draw((3, 4, 5), gen).requires_grad_()
    best, confidence = answer.best_and_confidence(logits)
    confidence.backward(torch.randn(confidence.shape, generator=gen))
    return [best, confidence.detach(), logits.grad]
