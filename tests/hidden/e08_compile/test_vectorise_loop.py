"""What grades pool_words: means, gradients, no loop; cut-off texts, memory, NaN, dtypes, empties, devices."""

import math

import pytest
import torch

from grader.checks import expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    given,
    gradients,
    half_precision,
    untouched,
    values,
)


def pooled(states, word_ids, words, total=False, divisor=None, spare=None):
    """The means, written out; or with a mistake."""
    rows = []
    for row, ids in zip(states, word_ids, strict=True):
        ids = ids if spare is None else torch.where(ids < 0, spare % words, ids)
        means = []
        for word in range(words):
            pieces = row[ids == word]
            means.append(pieces.sum(0) / (1 if total else divisor or max(len(pieces), 1)))
        rows.append(torch.stack(means) if means else row.new_zeros(0, row.shape[-1]))
    return torch.stack(rows) if rows else states.new_zeros(0, words, states.shape[-1])


def drawn(gen, batch, time, dim, words):
    """Texts as a tokenizer gives them: a special token, pieces of rising words, some left out, padding."""
    states = torch.randn(batch, time, dim, generator=gen) + 0.5
    word_ids = torch.randint(words, (batch, time), generator=gen).sort(1).values
    word_ids[:, :1] = -1
    for row in range(batch):
        word_ids[row, time - 1 - row % 3 :] = -1
    return given(states, word_ids, words)


def whole(states, word_ids, words):
    """A text without special tokens, in which each word has a single piece."""
    return given(states, torch.arange(words).flip(0).expand(states.shape[:2]), words)


def ordinary(gen):
    states, word_ids, words = drawn(gen, 3, 10, 2, 5).args
    return {
        "two texts of four words": drawn(gen, 2, 9, 3, 4),
        "more words than pieces": drawn(gen, 3, 6, 2, 9),
        "one long text": drawn(gen, 1, 40, 4, 7),
        "as many words as texts": drawn(gen, 4, 12, 2, 4),
        "texts without special tokens": given(states, word_ids.clamp(min=0), words),
        "words of a single piece": whole(torch.randn(2, 6, 3, generator=gen), word_ids, 6),
    }


def cut_off(gen):
    states, word_ids, words = drawn(gen, 3, 12, 2, 6).args
    return {"ids up to 5, but words=4": given(states, word_ids, words - 2)}


def broken(gen):
    states, word_ids, words = drawn(gen, 2, 12, 3, 4).args
    states[0, 3, 1], states[1, 4, 0], states[1, 5, 2] = math.nan, math.inf, -math.inf
    return {"three pieces with NaN or inf": given(states, word_ids, words)}


def padded(gen):
    calls = {}
    for bad in (math.nan, math.inf):
        states, word_ids, words = drawn(gen, 2, 9, 3, 4).args
        calls[f"{bad} in the padding"] = given(
            states.masked_fill((word_ids < 0)[..., None], bad), word_ids, words
        )
    return calls


def long_words(gen):
    """Sums beyond the largest number of float16, of about 300 pieces each."""
    word_ids = torch.tensor([0, 0, 1, 1, 3]).repeat(140).sort().values.expand(2, 700)
    return [given(torch.rand(2, 700, 3, generator=gen) * 100 + 300, word_ids, 4)]


def texts(over):
    def make(n):
        sizes = {"batch": 2, "time": 30, "words": 4} | {over: n}
        return drawn(torch.Generator().manual_seed(n), sizes["batch"], sizes["time"], 3, sizes["words"])

    return make


contract = Contract(
    "pool_words(states, word_ids, words)",
    reference=pooled,
    inputs=ordinary,
    gradient="states",
    dims="batch words dim",
    scale=4.0,
    suspects={
        "these are sums": lambda *args: pooled(*args, total=True),
        "each sum is divided by the number of all pieces": lambda s, *args: pooled(
            s, *args, divisor=s.shape[1]
        ),
        "pieces with the id -1 land in the last word": lambda *args: pooled(*args, spare=-1),
        "pieces with the id -1 land in the first word": lambda *args: pooled(*args, spare=0),
    },
    job=[
        flat_cost(texts(over), over=over, name=f"no_loop_over_{over}") for over in ("batch", "time", "words")
    ],
    fine=[
        values(inputs=cut_off, name="cut_off", title="Pieces with an id of `words` or more reach no word."),
        values(inputs=broken, name="broken_words", title="NaN or inf in one word is in no other."),
        values(inputs=padded, name="padding", title="What padding holds, be it NaN, reaches no word."),
        gradients(
            "states", inputs=padded, name="padding_gradients", title="NaN in the padding reaches no gradient."
        ),
        half_precision(inputs=long_words),
        dtypes(torch.float64, torch.bfloat16),
        empties(
            inputs=lambda gen: {
                "no text": drawn(gen, 0, 5, 3, 4),
                "no piece": given(torch.zeros(2, 0, 3), torch.zeros(2, 0, dtype=torch.int64), 4),
                "no word": given(torch.ones(2, 5, 3), torch.full((2, 5), -1), 0),
            },
            title="No texts, no pieces and no words are sizes like any other.",
        ),
        untouched(),
        device(),
    ],
    fine_inputs=lambda gen: cut_off(gen) | padded(gen),
)


@pytest.mark.fine
def test_memory(answer, gen):
    """No tensor of batch * words * time numbers is made, forwards or backwards."""
    batch, time, words = 2, 512, 512
    states, word_ids, _ = drawn(gen, batch, time, 2, words).args
    states.requires_grad_()

    def run():
        torch.autograd.grad(answer.pool_words(states, word_ids, words).square().sum(), states)

    peak = peak_bytes(run)
    expect_that(
        peak < batch * words * time,
        "pool_words(states, word_ids, words) takes memory for each pair of a word and a piece",
        yours=f"{peak} bytes for batch {batch}, time {time}, words {words}, dim 2",
        wanted=f"less than batch * words * time = {batch * words * time}: a few times the states",
        likely="a mask or a one-hot matrix that compares each piece with each word",
    )
