"""What grades sample_top_k: frequencies, rows, the generator; other shapes, ties, half precision, errors."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_that, global_rng_untouched
from grader.checks.contract import Contract, empties, errors, flat_cost, given, strides, untouched, values
from grader.checks.cost.dispatch import DispatchMode

DRAWS = 2400


def shuffled(sizes, gen):
    """Logits without ties: the numbers 0, 0.5, 1, … of each row in a random order."""
    return torch.rand(sizes, generator=gen).argsort(-1) / 2


def greedy(*sizes):
    """Draws calls with k = 1, which leave no choice."""
    return lambda gen: [given(shuffled(size, gen), 1, gen) for size in sizes]


contract = Contract(
    "sample_top_k(logits, k, generator)",
    reference=lambda logits, k, generator: logits.argmax(-1),
    inputs=greedy((4, 6), (1, 5), (7, 3)),
    suspects={"these are the smallest logits": lambda logits, k, generator: logits.argmin(-1)},
    dims="row",
    job=[
        values(title="With k = 1 the largest logit of each row wins."),
        flat_cost(lambda rows: given(torch.zeros(rows, 5), 3, torch.Generator()), over="rows"),
    ],
    fine=[
        values(
            inputs=greedy((6,), (2, 3, 5), (1, 1, 4), (3, 2, 2, 6)),
            name="leading_dimensions",
            title="Ids have the dimensions that stand before the vocabulary, also none.",
        ),
        empties(inputs=greedy((0, 4), (2, 0, 4)), title="An empty batch gives no ids."),
        strides(inputs=greedy((3, 2, 5))),
        untouched(inputs=lambda gen: [given(shuffled(size, gen), 3, gen) for size in [(4, 6), (6,)]]),
        errors(
            ValueError,
            lambda gen: [given(torch.zeros(size), k, gen) for size in [(2, 5), (7, 5)] for k in (0, -1, 6)],
            title="k below 1 or above the size of the vocabulary raises ValueError.",
        ),
    ],
)


def expect_frequencies(ids, row, k, call):
    """Every token's count among these ids, drawn from this row, lies within six deviations."""
    draws, counts = ids.numel(), torch.bincount(ids.flatten(), minlength=len(row))
    expect_equal(counts.shape, row.shape, f"the range of ids from {call}")

    def off(chances):
        room = 6 * (draws * chances * (1 - chances)).sqrt() + (chances > 0) * 2
        return (counts - draws * chances).abs() - room

    largest, places = row.double().topk(k)
    mistakes = {
        "all rows have one draw in common": (counts == draws).double(),
        "the k largest are drawn evenly: softmax says how often": spread(row, places, torch.ones(k) / k),
        "these are places among the k largest, not ids of tokens": spread(
            row, torch.arange(k), largest.softmax(-1)
        ),
        "tokens beyond the k largest are drawn, too": row.double().softmax(-1),
        "the chances are those of the first row": spread(row, places, ROWS[0].topk(k)[0].softmax(-1)),
    }
    wanted = spread(row, places, largest.softmax(-1))
    worst = int(off(wanted).argmax())
    expect_that(
        off(wanted)[worst].item() <= 0,
        f"wrong frequencies from {call}",
        yours=f"token {worst} came {int(counts[worst])} times in {draws} draws",
        wanted=f"about {draws * float(wanted[worst]):.0f} times",
        likely=next((told for told, chances in mistakes.items() if bool((off(chances) <= 0).all())), ""),
    )


def spread(row, places, chances):
    """These chances at these places, and 0 elsewhere."""
    return torch.zeros(len(row), dtype=torch.float64).scatter(0, places, chances.double())


ROWS = torch.tensor([[0.3, 2.0, -1.0, 1.5, 2.4], [1.0, -3.0, 4.0, 0.0, 3.5]])


@pytest.mark.parametrize("k", [3, 5])
def test_frequencies(answer, gen, k):
    """The k largest of each row are drawn as often as its softmax says, and no others."""
    ids = answer.sample_top_k(ROWS.repeat(DRAWS, 1), k, gen)
    for first, row in enumerate(ROWS):
        expect_frequencies(ids[first::2], row, k, f"sample_top_k(logits, {k}, generator)")


@pytest.mark.fine
def test_frequencies_with_more_dimensions(answer, gen):
    """The last dimension is the vocabulary, however many stand before it; each row has its own chances."""
    ids = answer.sample_top_k(ROWS.repeat(DRAWS // 4, 4, 1, 1), 3, gen)
    call = f"sample_top_k(logits, 3, generator) with {tuple(ids.shape)} rows"
    for number, row in enumerate(ROWS):
        expect_frequencies(ids[..., number], row, 3, call)


def test_rows_are_independent(answer, gen):
    """Each row has randomness of its own."""
    vocab = 200
    different = int(answer.sample_top_k(torch.zeros(24, vocab), vocab, gen).unique().numel())
    expect_that(
        different > 15,
        "rows share their randomness",
        yours=f"{different} different ids in 24 rows of {vocab} equal logits",
        wanted="nearly 24",
    )


def test_generator_decides(answer, gen):
    """The same state of the generator gives the same ids; the next call draws new ones."""
    logits, call = torch.zeros(64, 32), "sample_top_k(logits, 32, generator)"
    state = gen.get_state()
    first = answer.sample_top_k(logits, 32, gen).clone()
    second = answer.sample_top_k(logits, 32, gen).clone()
    gen.set_state(state)
    torch.rand(5)
    likely = "the numbers do not come from this generator: hand it on, generator=generator"
    again = answer.sample_top_k(logits, 32, gen)
    told = f"{call}, back in the same state, draws other ids"
    expect_that(torch.equal(again, first), told, yours=again, wanted=first, likely=likely)
    expect_that(
        not torch.equal(first, second),
        "two calls in a row draw the same ids",
        likely="the generator is seeded, copied or replaced inside",
    )


@pytest.mark.fine
def test_large_logits_and_inf(answer, gen):
    """Logits near 1e4 and near -1e4 are drawn like those near 0, and -inf never."""
    row = torch.tensor([0.0, 1.0, -math.inf, 0.5, -math.inf])
    for height, k in [(1e4, 5), (-1e4, 2)]:
        call = f"sample_top_k(logits near {height:g} and -inf, {k}, generator)"
        expect_frequencies(
            answer.sample_top_k((row + height).repeat(DRAWS, 1), k, gen), row + height, k, call
        )


@pytest.mark.fine
def test_ties(answer, gen):
    """Where logits are equal, no more than k tokens stay: the others lose nothing to the rest of a tie."""
    row = torch.tensor([0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    came = int((answer.sample_top_k(row.repeat(DRAWS, 1), 2, gen) == 2).sum())
    wanted = float(torch.tensor(2.0).sigmoid()) * DRAWS  # against one of the five that are equal
    expect_that(
        abs(came - wanted) < 6 * math.sqrt(DRAWS * 0.88 * 0.12),
        "wrong frequencies from sample_top_k(logits with ties, 2, generator)",
        yours=f"the largest came {came} times in {DRAWS} draws",
        wanted=f"about {wanted:.0f} times",
        likely="every logit as large as the k-th stays in the draw, which may be more than k",
    )


class Halves(DispatchMode):
    """Names the operations whose chances or whose noise are in half precision."""

    def __init__(self):
        super().__init__()
        self.found = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__.strip("_")
        drawn = (kwargs or {}).get("generator") is not None
        chances = name in ("softmax", "log_softmax", "exp", "sigmoid", "cumsum")
        seen = [result, *args] if drawn else [result] if chances else []
        if any(isinstance(t, torch.Tensor) and t.dtype in (torch.float16, torch.bfloat16) for t in seen):
            self.found.add(name)
        return result


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """Neither the chances nor the noise of the draw are rounded to half precision."""
    call = f"sample_top_k({dtype} logits near 1024, 3, generator)"
    row = torch.tensor([0.0, 8.0, -8.0, 8.0]).add(1024).to(dtype)
    with Halves() as halves:
        expect_frequencies(answer.sample_top_k(row.repeat(DRAWS, 1), 3, gen), row, 3, call)
    expect_that(
        not halves.found,
        f"{call} draws in half precision, which rounds rare tokens away",
        yours=", ".join(sorted(halves.found)),
        wanted="chances and noise in float32 or float64",
    )


@pytest.mark.fine
def test_global_stream_is_left_alone(answer, gen):
    """PyTorch's global random stream is neither drawn from nor seeded."""
    with global_rng_untouched("sample_top_k(logits, 3, generator)"):
        answer.sample_top_k(shuffled((4, 6), gen), 3, gen)


def oracle(answer, gen):
    # All inputs come first: how many numbers an answer draws from the generator is its own affair.
    logits = torch.rand(8, 300, generator=gen).argsort(-1) / 2
    sure = torch.full((12, 200), -40.0).scatter(1, torch.randint(200, (12, 1), generator=gen), 40.0)
    kept = torch.randperm(60, generator=gen)[:4]
    chances = torch.tensor([0.5, 0.3, 0.15, 0.05])
    row = torch.full((60,), -4.0).scatter(0, kept, chances.log())

    def drawn(k):
        return torch.bincount(answer.sample_top_k(row.repeat(4000, 1), k, gen), minlength=60)

    def as_often_as_their_chances():
        return kept[(drawn(4)[kept] / 4000 - chances).abs() < 0.05]

    return {
        "k = 1: the most likely token of each row": lambda: answer.sample_top_k(logits, 1, gen),
        "k = 150, and one token of each row is certain": lambda: answer.sample_top_k(sure, 150, gen),
        "k = 3: the tokens that come in 4000 draws": lambda: drawn(3).nonzero(),
        "k = 4: the tokens that come as often as they should": as_often_as_their_chances,
    }
