"""What grades pool_words: means, gradients, cost, memory, NaN, dtypes, empty sizes, devices."""

import math

import pytest
import torch

from grader.checks import (
    expect_close,
    expect_equal,
    expect_flat_cost,
    expect_gradients,
    expect_that,
    peak_bytes,
    unchanged,
)
from grader.checks.devices import on_host

CALL = "pool_words(states, word_ids, words)"
SIZES = {
    "2 x 7, 4 words": (2, 7, 3, 4),
    "3 x 5, 9 words": (3, 5, 2, 9),
    "1 x 12, 1 word": (1, 12, 4, 1),
    "6 x 1, 2 words": (6, 1, 1, 2),
}


def pooled(states, word_ids, words):
    """The means, written out in float64."""
    rows = []
    for row in range(len(states)):
        means = []
        for word in range(words):
            pieces = states[row, word_ids[row] == word].double()
            means.append(pieces.sum(0) / max(len(pieces), 1))
        rows.append(torch.stack(means))
    return torch.stack(rows)


def drawn(gen, batch, time, dim, words, dtype=torch.float32):
    """States, and ids in any order from two below the words to two above."""
    states = torch.randn(batch, time, dim, generator=gen, dtype=torch.float64) + 0.5
    return states.to(dtype), torch.randint(-2, words + 2, (batch, time), generator=gen)


@pytest.mark.parametrize("case", SIZES)
def test_means(answer, gen, case):
    """Each word gets the mean of its pieces, wherever they are; states and ids stay as they are."""
    *sizes, words = SIZES[case]
    states, word_ids = drawn(gen, *sizes, words)
    wanted = pooled(states, word_ids, words).float()
    with unchanged(CALL, states=states, word_ids=word_ids):
        yours = answer.pool_words(states, word_ids, words)
    expect_close(yours, wanted, f"pool_words(…), {case}", dims="batch words dim", scale=4.0)


@pytest.mark.parametrize("case", SIZES)
def test_gradients(answer, gen, case):
    """Each piece of a word has its share of the word's gradient, any other piece has none."""
    *sizes, words = SIZES[case]
    states, word_ids = drawn(gen, *sizes, words)
    word_ids[:, 0] = 0
    expect_gradients(
        lambda states: answer.pool_words(states, word_ids, words),
        [states],
        lambda states: pooled(states, word_ids, words),
        gen=gen,
        call=f"{CALL}, {case}",
        names="states",
    )
    for dtype in (torch.bfloat16, torch.float16):
        expect_gradients(
            lambda states: answer.pool_words(states, word_ids, words),
            [states.to(dtype)],
            lambda states: pooled(states, word_ids, words),
            gen=gen,
            call=f"{CALL} in {dtype}, {case}",
            names="states",
        )


@pytest.mark.parametrize("over", ["batch", "time", "words", "dim"])
def test_cost(answer, gen, over):
    """The number of operations and Python steps is the same for any batch, time, words and dim."""

    def make(n):
        sizes = {"batch": 2, "time": 12, "dim": 3, "words": 4} | {over: n}
        states, word_ids = drawn(gen, sizes["batch"], sizes["time"], sizes["dim"], sizes["words"])
        return lambda: answer.pool_words(states, word_ids, sizes["words"])

    expect_flat_cost(make, CALL, over=over)


def test_memory(answer, gen):
    """No tensor of batch * words * time numbers is made, forwards or backwards."""
    batch, time, words = 2, 512, 512
    states, word_ids = drawn(gen, batch, time, 2, words)
    states.requires_grad_()

    def run():
        torch.autograd.grad(answer.pool_words(states, word_ids, words).square().sum(), states)

    peak = peak_bytes(run)
    expect_that(
        peak < batch * words * time,
        f"{CALL} takes memory for each pair of a word and a piece",
        yours=f"{peak} bytes for batch {batch}, time {time}, words {words}, dim 2",
        wanted=f"less than batch * words * time = {batch * words * time}: a few times the states",
        likely="a mask or a one-hot matrix that compares each piece with each word",
    )


def test_pieces_without_a_word(answer, gen):
    """A piece with an id below 0, or of words or more, reaches no word, with whatever it holds."""
    states, word_ids = drawn(gen, 3, 8, 2, 4)
    word_ids[:, 0] = torch.tensor([-1, 4, 2**32])
    word_ids[:, 1] = torch.tensor([0, 1, 2])
    single = answer.pool_words(states[:, :1], word_ids[:, :1], 4)
    expect_equal(single, torch.zeros(3, 4, 2), f"{CALL}, where the one piece of each row is outside")
    outside = (word_ids < 0) | (word_ids >= 4)
    wanted = pooled(states, word_ids, 4).float()
    for bad in (math.nan, math.inf, 1e30):
        broken = states.masked_fill(outside[:, :, None], bad).requires_grad_()
        yours = answer.pool_words(broken, word_ids, 4)
        expect_close(
            yours.detach(),
            wanted,
            f"{CALL} with {bad} outside of all words",
            dims="batch words dim",
            scale=4.0,
        )
        (gradient,) = torch.autograd.grad(yours.square().sum(), broken)
        there = gradient[outside]
        expect_equal(there, torch.zeros_like(there), f"the gradient of the pieces outside, which hold {bad}")
        expect_that(bool(gradient.isfinite().all()), f"{bad} outside of all words spoils a gradient")


def test_broken_words(answer, gen):
    """NaN or inf in one word is in no other."""
    states, word_ids = drawn(gen, 2, 9, 3, 4)
    word_ids[:, 2:6] = torch.tensor([[0, 1, 3, 1], [2, 0, 0, 3]])
    states[0, 3, 1], states[1, 2, 0], states[1, 3, 2] = math.nan, math.inf, -math.inf
    for dtype, words in ((torch.float32, 4), (torch.float64, 4), (torch.float32, 1), (torch.float32, 2)):
        wanted = pooled(states, word_ids, words).to(dtype)
        yours = answer.pool_words(states.to(dtype), word_ids, words)
        call = f"{CALL}, words={words}, three ids of {dtype} states hold NaN or inf"
        expect_close(yours, wanted, call, dims="batch words dim", scale=4.0)


def test_all_pieces_in_one_place(answer, gen):
    """Rows of one word, of no word at all, and words far apart."""
    states, _ = drawn(gen, 3, 6, 2, 1)
    word_ids = torch.tensor([[5] * 6, [-1] * 6, [0, 11, 11, 0, 7, 11]])
    wanted = pooled(states, word_ids, 14).float()
    yours = answer.pool_words(states, word_ids, 14)
    expect_close(yours, wanted, f"{CALL}, words=14", dims="batch words dim", scale=4.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_narrow_dtypes(answer, gen, dtype):
    """In half precision the sums and counts of long words are kept wider, and rounded once."""
    states = (torch.rand(2, 700, 3, generator=gen) * 100 + 300).to(dtype)
    word_ids = torch.tensor([0, 0, 0, 1, 3]).repeat(140).expand(2, 700)
    exact = pooled(states, word_ids, 4)
    yours = answer.pool_words(states, word_ids, 4)
    expect_close(yours, exact.to(dtype), f"{CALL} of {dtype} states", dims="batch words dim")
    step = torch.finfo(dtype).eps * 256  # between two numbers of this dtype, from 256 to 512
    error = (yours.double() - exact).abs().max().item() / step
    expect_that(
        error < 0.55,  # a sum of 420 pieces in float32 is off by less than 0.05 steps
        f"the means from {CALL} of {dtype} states are rounded more than once",
        yours=f"off by {error:.2f} steps of {dtype}",
        wanted="by half a step: sums, counts and quotients in float32 or wider, rounded at the end",
    )
    far = torch.tensor([[2049, 257, 2051]])  # which the dtype does not have
    wanted = torch.zeros(1, 2100, 3, dtype=dtype).index_copy(1, far[0], states[:1, :3])
    yours = answer.pool_words(states[:1, :3], far, 2100)
    expect_equal(yours, wanted, f"{CALL} of three pieces in {dtype}, words {far[0].tolist()} of 2100")


def test_a_very_long_word(answer, gen):
    """The number of a word's pieces may be too large for the dtype of the states, and its share too small."""
    states = (torch.rand(1, 70_001, 1, generator=gen) + 3).mul(3e-4).half()
    word_ids = (torch.arange(70_001) == 0).long()[None]
    wanted = pooled(states, word_ids, 2).half()
    yours = answer.pool_words(states, word_ids, 2)
    expect_close(yours, wanted, f"{CALL}, a word of 70,000 float16 pieces", dims="batch words dim")


def test_float64(answer, gen):
    """float64 states have means to the precision of float64."""
    states, word_ids = drawn(gen, 2, 9, 3, 4, torch.float64)
    wanted = pooled(states, word_ids, 4)
    yours = answer.pool_words(states, word_ids, 4)
    expect_close(yours, wanted, f"{CALL} of float64 states", dims="batch words dim", scale=4.0)


@pytest.mark.parametrize("sizes", [(0, 5, 3, 4), (2, 0, 3, 4), (2, 5, 3, 0), (0, 0, 3, 0)], ids=str)
def test_empty(answer, gen, sizes):
    """No rows, no pieces and no words are sizes like any other."""
    batch, time, dim, words = sizes
    states, word_ids = (
        torch.randn(batch, time, dim, generator=gen),
        torch.zeros(batch, time, dtype=torch.int64),
    )
    yours = answer.pool_words(states, word_ids, words)
    expect_equal(yours, torch.zeros(batch, words, dim), f"{CALL}, batch {batch}, time {time}, words {words}")


def test_strided(answer, gen):
    """Transposed and expanded inputs are read like any other."""
    states, word_ids = drawn(gen, 4, 3, 2, 3)
    across = states.transpose(0, 1), word_ids.t()
    wanted = pooled(*across, 3).float()
    expect_close(
        answer.pool_words(*across, 3), wanted, f"{CALL}, transposed", dims="batch words dim", scale=4.0
    )
    wide = states[:1].expand(5, 3, 2), word_ids[:1].expand(5, 3)
    wanted = pooled(*wide, 3).float()
    expect_close(answer.pool_words(*wide, 3), wanted, f"{CALL}, expanded", dims="batch words dim", scale=4.0)


def test_on_a_device(answer, gen, device):
    """States on another device give means there."""
    states, word_ids = drawn(gen, 2, 6, 3, 4)
    wanted = pooled(states, word_ids, 4).float()
    yours = answer.pool_words(states.to(device), word_ids.to(device), 4)
    expect_that(yours.device == device, "the means are on another device than the states", yours=yours)
    expect_close(on_host(yours), wanted, f"{CALL} on another device", dims="batch words dim", scale=4.0)


def oracle(answer, gen):
    results = []
    for *sizes, words in SIZES.values():
        states, word_ids = drawn(gen, *sizes, words)
        states.requires_grad_()
        means = answer.pool_words(states, word_ids, words)
        cotangent = torch.randn(means.shape, generator=gen)
        results += [means.detach(), *torch.autograd.grad((means * cotangent).sum(), [states])]
    return results
