"""What grades sample_top_k: frequencies, ids, the generator, shapes, errors."""

import math

import pytest
import torch

from grader.checks import (
    expect_equal,
    expect_flat_cost,
    expect_raises,
    expect_that,
    global_rng_untouched,
    unchanged,
)
from grader.checks.cost.dispatch import DispatchMode

ROWS = 2400


def shuffled(sizes, gen):
    """Logits without ties: the numbers 0, 0.5, 1, … of each row in a random order."""
    return torch.rand(sizes, generator=gen).argsort(-1) / 2


def expect_frequencies(answer, gen, row, k, call, rows=ROWS):
    """Draw one row many times at once; every token's count lies within six deviations."""
    expect_counts(answer.sample_top_k(row.expand(rows, -1), k, gen), row, k, call)


def expect_counts(ids, row, k, call):
    kept = row.double().clone()
    kept[kept < kept.topk(k).values[-1]] = -math.inf
    chances = kept.softmax(-1)
    counts, rows = torch.bincount(ids.flatten(), minlength=row.numel()), ids.numel()
    expect_equal(counts.shape, row.shape, f"the range of ids from {call}")
    room = 6 * (rows * chances * (1 - chances)).sqrt() + (chances > 0) * 2
    off = (counts - rows * chances).abs() - room
    worst = int(off.argmax())
    expect_that(
        off[worst].item() <= 0,
        f"wrong frequencies from {call}",
        yours=f"token {worst} came {int(counts[worst])} times in {rows} draws",
        wanted=f"about {rows * float(chances[worst]):.0f} times",
    )


def test_frequencies(answer, gen):
    """The k largest are drawn as often as their softmax says, and no others; rows are independent."""
    row = torch.tensor([0.3, 2.0, -1.0, 1.5, 0.9, 2.4, -3.0])
    for k in (3, 7):
        expect_frequencies(answer, gen, row, k, f"sample_top_k(logits, {k}, generator)")


def test_frequencies_with_more_dims(answer, gen):
    """The last dimension is the vocabulary, however many come before it; each row has its own chances."""
    rows = torch.tensor([[0.3, 2.0, -1.0, 1.5, 2.4], [1.0, -3.0, 4.0, 0.0, -3.5]])
    lead = (ROWS // 4, 2, 2)
    ids = answer.sample_top_k(rows.expand(*lead, -1), 3, gen)
    call = f"sample_top_k(logits, 3, generator) with {lead} rows"
    expect_equal(ids.shape, torch.Size(lead), f"the shape of {call}")
    expect_equal(ids.dtype, torch.int64, f"the dtype of {call}")
    for number, row in enumerate(rows):
        expect_counts(ids[..., number], row, 3, f"{call}, those of kind {number}")


WIDE = torch.zeros(40_000)
WIDE[39_999] = 1.0


def test_a_single_row(answer, gen):
    """A row without leading dimensions is drawn from like the others: among its k largest, all of them."""
    row = torch.tensor([1.0, 0.5, 1.0, 0.0, 0.9])
    drawn = {int(answer.sample_top_k(row, 2, gen)) for _ in range(25)}
    expect_that(
        drawn == {0, 2},
        "sample_top_k(row, 2, generator) does not draw from the two largest logits of the row",
        yours=f"{sorted(drawn)} in 25 draws",
        wanted="[0, 2]",
    )
    sure = answer.sample_top_k(torch.tensor([0.0, 9.0, 90.0, 1.0]), 4, gen)
    expect_equal(sure, torch.tensor(2), "sample_top_k(row, 4, generator) of a row with one large logit")
    largest = answer.sample_top_k(WIDE, 1, gen)
    expect_equal(largest, torch.tensor(39_999), "sample_top_k(row, 1, generator) of 40000 logits")


def test_rows_are_independent(answer, gen):
    """Each row has randomness of its own, along all leading dimensions."""
    vocab = 200
    ids = answer.sample_top_k(torch.zeros(2, 3, 4, vocab), vocab, gen)
    different = int(ids.unique().numel())
    expect_that(
        different > 15,
        "rows share their randomness",
        yours=f"{different} different ids in 24 rows of {vocab} equal logits",
        wanted="nearly 24",
    )
    coins = torch.stack([answer.sample_top_k(torch.zeros(6, 2), 2, gen) for _ in range(200)])
    alike = (coins[:, :, None] == coins[:, None]).double().mean(0).fill_diagonal_(0.5)
    worst = float(alike.flatten()[(alike - 0.5).abs().argmax()])
    expect_that(
        0.25 < worst < 0.75,
        "rows share their randomness",
        yours=f"two of 6 rows draw the same of two equal logits in {worst:.0%} of 200 calls",
        wanted="about 50 %",
    )


def test_large_logits_and_inf(answer, gen):
    """Logits near 1e4 and near -1e4 are drawn like those near 0, and -inf never."""
    row = torch.tensor([0.0, 1.0, -math.inf, 0.5, -math.inf])
    for height, k in [(1e4, 5), (-1e4, 2)]:
        call = f"sample_top_k(logits near {height:g} and -inf, {k}, generator)"
        expect_frequencies(answer, gen, row + height, k, call, rows=900)
    both = torch.tensor([-1e4, 1e4, 9999.0, -math.inf])
    expect_frequencies(answer, gen, both, 4, "sample_top_k(logits near 1e4 and -1e4, 4, generator)", rows=900)
    half = torch.tensor([1e4, 9992.0, 1e4, 0.0], dtype=torch.half)
    expect_frequencies(answer, gen, half, 4, "sample_top_k(float16 logits near 1e4, 4, generator)", rows=900)
    alone = torch.full((5,), -math.inf)
    alone[3] = -1e4
    call = "sample_top_k(a single logit beside -inf, then rows of five zeros, 5, generator)"
    mixed = torch.stack([alone, torch.zeros(5)]).expand(450, 2, 5)
    ids = answer.sample_top_k(mixed, 5, gen)
    expect_counts(ids[:, 0], alone, 5, call)
    expect_counts(ids[:, 1], torch.zeros(5), 5, call)


def test_ties(answer, gen):
    """Where logits are equal, no more than k tokens stay: the others lose nothing to the rest of a tie."""
    row = torch.tensor([0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    ids = answer.sample_top_k(row.expand(ROWS, -1), 2, gen)
    wanted = float(torch.tensor(2.0).sigmoid()) * ROWS  # against one of the five that are equal
    expect_that(
        abs(int((ids == 2).sum()) - wanted) < 6 * math.sqrt(ROWS * 0.88 * 0.12),
        "wrong frequencies from sample_top_k(logits with ties, 2, generator)",
        yours=f"the largest came {int((ids == 2).sum())} times in {ROWS} draws",
        wanted=f"about {wanted:.0f} times",
        likely="every logit as large as the k-th stays in the draw, which may be more than k",
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_every_floating_dtype(answer, gen, dtype):
    """Logits of every floating dtype are drawn from, and ids are int64."""
    height = {torch.float16: 1024, torch.bfloat16: 256}.get(dtype, 0)  # in steps of 1 and of 2
    row = torch.tensor([0.0, 2.0, -2.0, 4.0]).add(height).to(dtype)
    ids = answer.sample_top_k(row, 2, gen)
    expect_equal(ids.dtype, torch.int64, f"the dtype of the ids of {dtype} logits")
    expect_frequencies(answer, gen, row, 3, f"sample_top_k({dtype} logits near {height}, 3, generator)", 900)
    if dtype == torch.bfloat16:
        rare = torch.zeros(101, dtype=dtype)
        rare[0] = math.log(900)
        thrice = [answer.sample_top_k(rare.expand(300, -1), 101, gen) for _ in range(3)]
        drawn = torch.cat(thrice).unique().numel()
        expect_that(
            drawn > 35,
            f"tokens of {dtype} logits are never drawn, although they have a chance",
            yours=f"{drawn} different ids in 900 draws, one token with 90 % and 100 with 0.1 % each",
            wanted="about 60",
            likely="probabilities are added up in the dtype of the logits, which holds three digits",
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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_no_draw_in_half_precision(answer, gen, dtype):
    """Neither the chances nor the noise of the draw are rounded to half precision."""
    call = f"sample_top_k({dtype} logits, 3, generator)"
    with Halves() as halves:
        answer.sample_top_k(shuffled((4, 6), gen).to(dtype), 3, gen)
    expect_that(
        not halves.found,
        f"{call} draws in half precision, which rounds rare tokens away",
        yours=", ".join(sorted(halves.found)),
        wanted="chances and noise in float32 or float64",
    )


def test_close_logits(answer, gen):
    """The k largest are those of the logits in their own dtype, where another one or softmax makes ties."""
    for dtype, near, step in [
        (torch.float64, 1, 1e-12),
        (torch.float32, 1, 1e-6),
        (torch.float16, 1, 1e-3),
        (torch.float32, 0, 1e-20),
    ]:
        logits = (near + step * torch.rand(20, 6, generator=gen).argsort(-1).double()).to(dtype)
        greedy = logits.argmax(-1)
        call = f"sample_top_k(close {dtype} logits near {near}, 1, …)"
        expect_equal(answer.sample_top_k(logits, 1, gen), greedy, call)


@pytest.mark.parametrize(
    "leads", [[()], [(1,), (4,), (2, 3), (1, 1), (3, 2, 2)], [(0,), (2, 0)]], ids=["none", "some", "empty"]
)
def test_leading_dims(answer, gen, leads):
    """Ids have the shape of the leading dimensions, and each belongs to its own row."""
    for lead in leads:
        expect_own_rows(answer, gen, lead)


def expect_own_rows(answer, gen, lead):
    logits = shuffled((*lead, 6), gen)
    greedy = logits.argmax(-1)
    call = f"sample_top_k(logits, 1, generator) of shape {tuple(logits.shape)}"
    expect_equal(answer.sample_top_k(logits, 1, gen), greedy, call)
    top = logits.topk(3).indices
    ids = answer.sample_top_k(logits, 3, gen)
    expect_equal(ids.shape, torch.Size(lead), "the shape of sample_top_k(logits, 3, generator)")
    expect_equal(ids.dtype, torch.int64, "the dtype of sample_top_k(logits, 3, generator)")
    inside = (top == ids.unsqueeze(-1)).any(-1)
    expect_that(
        bool(inside.all()),
        "an id is not among the 3 largest of its row",
        yours=ids,
        wanted=f"of {top.tolist()}",
    )


def test_strided_logits(answer, gen):
    """Transposed logits are drawn from like any others."""
    logits = shuffled((3, 2, 5), gen).permute(1, 0, 2)
    greedy = logits.argmax(-1)
    expect_equal(answer.sample_top_k(logits, 1, gen), greedy, "sample_top_k(transposed logits, 1, generator)")


def test_generator_decides(answer, gen):
    """The same state of the generator gives the same ids; the next call draws new ones."""
    row, state = torch.zeros(10_000), gen.get_state()
    first = answer.sample_top_k(row, 10_000, gen).clone()
    gen.set_state(state)
    torch.rand(5)
    again = answer.sample_top_k(row, 10_000, gen)
    expect_equal(again, first, "sample_top_k(a single row, 10000, generator), back in the same state")
    logits = torch.zeros(64, 32)
    state = gen.get_state()
    first = answer.sample_top_k(logits, 32, gen).clone()
    second = answer.sample_top_k(logits, 32, gen).clone()
    gen.set_state(state)
    torch.rand(5)
    again = answer.sample_top_k(logits, 32, gen)
    expect_equal(again, first, "sample_top_k(logits, 32, generator), back in the same state")
    gen.set_state(state)
    again = answer.sample_top_k(logits, 32, gen)
    expect_equal(again, first, "sample_top_k(logits, 32, generator), back in the same state a second time")
    expect_that(
        not torch.equal(first, second),
        "two calls in a row draw the same ids",
        likely="the generator is seeded, copied or replaced inside",
    )
    other = answer.sample_top_k(logits, 32, torch.Generator().manual_seed(gen.initial_seed() + 1))
    expect_that(not torch.equal(first, other), "generators with different seeds give the same ids")


class Listening(DispatchMode):
    """Counts the operations around which the global random stream is not as it was."""

    def __init__(self):
        super().__init__()
        self.before, self.moved = torch.get_rng_state(), 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        same = torch.equal(torch.get_rng_state(), self.before)
        result = func(*args, **(kwargs or {}))
        self.moved += not (same and torch.equal(torch.get_rng_state(), self.before))
        return result


def test_global_stream_is_left_alone(answer, gen):
    """PyTorch's global random stream is neither drawn from nor seeded, nor borrowed and put back."""
    logits = shuffled((4, 6), gen)
    with global_rng_untouched("sample_top_k(logits, 3, generator)"), Listening() as listening:
        answer.sample_top_k(logits, 3, gen)
        answer.sample_top_k(logits[0], 3, gen)
    expect_that(
        not listening.moved,
        "sample_top_k(logits, 3, generator) seeds the global random stream, and puts it back",
        yours=f"{listening.moved} operations ran while it was in another state",
        wanted="draws from generator itself",
    )


def test_logits_are_left_alone(answer, gen):
    """The logits, which may require gradients, keep their values: nothing is masked in place."""
    wide = shuffled((2, 2, 6), gen).double()
    for logits in (shuffled((4, 6), gen), shuffled((6,), gen), wide, wide.clone().requires_grad_()):
        call = f"sample_top_k(logits, 3, generator) of shape {tuple(logits.shape)}"
        with unchanged(call, logits=logits):
            answer.sample_top_k(logits, 3, gen)


def test_no_loop_over_rows(answer, gen):
    """The number of operations is the same for 6 rows and for 24, along each leading dimension."""

    def make(n):
        rows, table = torch.zeros(n, 5), torch.zeros(n, n, 5)
        return lambda: (answer.sample_top_k(rows, 3, gen), answer.sample_top_k(table, 3, gen))

    expect_flat_cost(make, "sample_top_k(logits, 3, generator)", over="rows")


def test_impossible_k(answer, gen):
    """k below 1 or above the vocabulary is a ValueError before the draw; the vocabulary's own size is not."""
    for sizes in [(5,), (2, 5), (2, 3, 5), (7, 5), (0, 5)]:
        logits = shuffled(sizes, gen)
        state = gen.get_state()
        for k in (0, -1, 6, 7):
            call = f"sample_top_k(logits, {k}, generator) of shape {sizes}"
            expect_raises(ValueError, lambda logits=logits, k=k: answer.sample_top_k(logits, k, gen), call)
        expect_that(
            torch.equal(gen.get_state(), state),
            f"sample_top_k(logits, k, generator) draws before it raises ValueError, logits of shape {sizes}",
            yours="the generator is in another state afterwards",
            wanted="the state of before",
        )
        expect_equal(answer.sample_top_k(logits, 5, gen).shape, torch.Size(sizes[:-1]), "the shape for k = 5")
    only = answer.sample_top_k(torch.zeros(3, 1), 1, gen)
    expect_equal(only, torch.zeros(3, dtype=torch.int64), "sample_top_k(torch.zeros(3, 1), 1, generator)")


def oracle(answer, gen):
    # All inputs come first: how many numbers an answer draws from the generator is its own affair.
    logits, row = shuffled((4, 6, 300), gen), shuffled((50,), gen)
    sure = torch.full((12, 200), -1e3).scatter(1, torch.randint(200, (12, 1), generator=gen), 1e3)
    pair = torch.tensor([0.0, 3.0, 1.0]).expand(ROWS, 3)
    ids = answer.sample_top_k(logits, 4, gen)
    share = (answer.sample_top_k(pair, 2, gen) == 1).double().mean().item()
    return {
        "k = 1: the most likely token of each row": answer.sample_top_k(logits, 1, gen),
        "k = 1, of a single row": answer.sample_top_k(row, 1, gen),
        "k = 200, and one token of each row is certain": answer.sample_top_k(sure, 200, gen),
        "k = 4: all are among the four most likely": [
            list(ids.shape),
            (logits.topk(4).indices == ids.unsqueeze(-1)).any(-1),
        ],
        "k = 2 of logits 0, 3 and 1: how often the second comes": abs(share - 0.8808) < 0.04,
    }
