"""What grades expert_all_to_all: results on two and three ranks, what travels; messages, calls, dtypes."""

from dataclasses import dataclass
from functools import cache, partial

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that, unchanged
from grader.checks.distributed import count_collectives, in_words, run_ranks

pytestmark = pytest.mark.multi_process

CALL = "expert_parallel(x, chosen, weights, experts)"


def expert(weight, rows):
    return (rows.to(weight.dtype) @ weight).tanh().to(rows.dtype)


@dataclass
class Case:
    """Tokens of all ranks in a row, of which each has `sizes[rank]`, and all experts."""

    sizes: list
    x: torch.Tensor
    chosen: torch.Tensor
    weights: torch.Tensor
    experts: torch.Tensor

    def of(self, rank):
        return [t.split(self.sizes)[rank] for t in (self.x, self.chosen, self.weights)]

    def local(self, rank):
        return self.experts.chunk(len(self.sizes))[rank]


def drawn(gen, sizes, dim=3, local=2, k=2, kind=torch.float32, *, to=None):
    """Every rank gets rows, unless `to` says which experts do; each rank's first expert is favoured."""
    tokens, experts = sum(sizes), len(sizes) * local
    logits = torch.randn(tokens, experts, generator=gen)
    if to is not None:
        logits[:, to] += 100.0
    else:
        for n in range(len(sizes)):  # the first tokens go to all ranks in turn
            logits[n, n * local] += 10.0
    chosen, weights = logits.topk(k).indices, 0.2 + torch.rand(tokens, k, generator=gen)
    x = torch.randn(tokens, dim, generator=gen, dtype=torch.float64).to(kind)
    return Case(list(sizes), x, chosen, weights, torch.randn(experts, dim, dim, generator=gen))


def look(rank, world_size, answer, cases):
    """Of each case what this rank gets, or which of its arguments it finds changed."""
    found = []
    for case in cases:
        x, chosen, weights = case.of(rank)
        experts = [partial(expert, w) for w in case.local(rank)]
        with unchanged(CALL, x=x, chosen=chosen, weights=weights):
            found.append(answer.expert_parallel(x, chosen, weights, experts).detach().clone())
    return found


def as_one(case, *, number=lambda chosen: chosen, weigh=lambda weights: weights, rows=None):
    """Each token's k terms on one process, in float64; what comes by name is a mistake."""
    results = torch.stack([expert(w.double(), case.x.double()) for w in case.experts])
    chosen, weights = number(case.chosen), weigh(case.weights.double())
    rows = torch.arange(len(case.x))[:, None] if rows is None else rows
    return results[chosen, rows] * weights[..., None]


def of_one(case, **mistake):
    return list(as_one(case, **mistake).sum(1).split(case.sizes))


def sorted_by_expert(case):
    """Results that nobody put back in order."""
    found = []
    for rank, terms in enumerate(as_one(case, weigh=torch.ones_like).split(case.sizes)):
        _, chosen, weights = case.of(rank)
        by_expert = terms.flatten(0, 1)[chosen.flatten().argsort(stable=True)]
        found.append((by_expert.view(terms.shape) * weights[..., None]).sum(1))
    return found


def other_rows(case):
    """Place p of a rank's k * tokens, taken for token p % tokens: it is p // k."""
    own = [
        torch.arange(n * case.chosen.shape[1]) % max(n, 1) + sum(case.sizes[:r])
        for r, n in enumerate(case.sizes)
    ]
    return of_one(case, rows=torch.cat(own).view(case.chosen.shape))


def in_turn(case):
    """Experts dealt out to the ranks in turn."""
    ranks = len(case.sizes)
    local = len(case.experts) // ranks
    return of_one(case, number=lambda e: e % ranks * local + e // ranks)


def not_regrouped(case):
    """What arrives is cut by each expert's total, as if ranks had not sent theirs one after the other."""
    ranks, flat = len(case.sizes), case.chosen.flatten()
    local = len(case.experts) // ranks
    source = (
        torch.arange(ranks)
        .repeat_interleave(torch.tensor(case.sizes))
        .repeat_interleave(case.chosen.shape[1])
    )
    arrival = (flat // local * ranks + source) * len(case.experts) + flat
    wrong = torch.empty_like(flat)
    wrong[arrival.argsort(stable=True)] = flat.sort().values
    return of_one(case, number=lambda e: wrong.view(e.shape))


SUSPECTS = {
    "weights are left out": partial(of_one, weigh=torch.ones_like),
    "results are in the order of experts: put them back in the order of tokens": sorted_by_expert,
    "place p of the flattened choices is taken for token p % tokens: it is p // k": other_rows,
    "experts are numbered in turn, over the ranks: rank r holds r * n to r * n + n - 1": in_turn,
    "what arrives is cut by experts, but lies there rank by rank: group it first": not_regrouped,
    "only the first of the k experts counts": lambda case: [t[:, 0] for t in as_one(case).split(case.sizes)],
}


def expect_as_one(answer, cases, ulps=100):
    """On every rank, results are those of one process."""
    world_size = len(next(iter(cases.values())).sizes)
    ranks = run_ranks(world_size, look, list(cases.values()), answer=answer)
    for number, (about, case) in enumerate(cases.items()):
        right, kind = of_one(case), case.x.dtype
        for rank, found in enumerate(ranks):
            suspects = {
                told: lambda make=make, case=case, r=rank, kind=kind: make(case)[r].to(kind)
                for told, make in SUSPECTS.items()
            }
            call = f"{CALL} on rank {rank} of {world_size}, {about}"
            wanted = right[rank].to(kind)
            expect_close(
                found[number], wanted, call, dims="token feature", ulps=ulps, scale=2.0, suspects=suspects
            )


def ordinary(gen, *sizes):
    return {
        "one expert for each token": drawn(gen, sizes, k=1, dim=4),
        "two experts for each token": drawn(gen, sizes, local=3),
        "an expert on each rank": drawn(gen, sizes, local=1),
    }


@pytest.mark.parametrize("sizes", [(5, 7), (6, 3, 5)], ids=["two", "three"])
def test_results(answer, gen, sizes):
    """Each rank gets, for its own tokens in order, what one process with all experts gives."""
    expect_as_one(answer, ordinary(gen, *sizes))


def watch(rank, world_size, answer, case):
    """What this rank sends, and for each of its experts how many rows it gets in each call."""
    calls = [[] for _ in case.local(rank)]

    def record(number, rows):
        calls[number].append(len(rows))
        return rows

    with count_collectives() as seen:
        answer.expert_parallel(*case.of(rank), [partial(record, n) for n in range(len(calls))])
    return [(call.kind, call.bytes) for call in seen.calls], calls


def test_nobody_gathers(answer, gen):
    """A row travels to the rank of its expert alone."""
    case = drawn(gen, (20, 30), dim=64)
    for rank, (sent, calls) in enumerate(run_ranks(2, watch, case, answer=answer)):
        others = [(kind, size) for kind, size in sent if kind not in ("all_to_all", "send", "recv")]
        told = f"rank {rank} sends rows to every rank"
        facts = {"yours": ", ".join(f"{kind} of {size} bytes" for kind, size in others)}
        expect_that(sum(size for _, size in others) < 2000, told, **facts, wanted="rows in all-to-all only")
        numbers = torch.arange(rank * 2, rank * 2 + 2)[:, None, None]
        wanted = (case.chosen == numbers).sum((1, 2)).tolist()
        expect_equal([sum(c) for c in calls], wanted, f"the rows for each of the two experts of rank {rank}")


@pytest.mark.fine
def test_messages(answer, gen):
    """There are three all-to-all: numbers, rows, and results; nothing is padded."""
    case = drawn(gen, (20, 30), dim=64, local=4, kind=torch.bfloat16)
    row = 64 * 2
    for rank, (sent, _) in enumerate(run_ranks(2, watch, case, answer=answer)):
        kinds = [kind for kind, _ in sent]
        count = {kind: kinds.count(kind) for kind in kinds}
        told = f"wrong messages of rank {rank}, with four experts on each of two"
        expect_that(count == {"all_to_all": 3}, told, yours=in_words(count), wanted="3 all_to_all")
        coming = int((case.chosen // 4 == rank).sum())
        most = 8 * 8 + row * (case.sizes[rank] * 2 + coming)
        size = sum(size for _, size in sent)
        told = f"rank {rank} sends too much"
        expect_that(size <= most, told, yours=f"{size} bytes", wanted=f"{most}: rows and results in bfloat16")


@pytest.mark.fine
def test_calls(answer, gen):
    """An expert is called once with the rows of all ranks, and not without rows."""
    case = drawn(gen, (6, 5), local=3, to=[0, 2, 4])
    for rank, (_, calls) in enumerate(run_ranks(2, watch, case, answer=answer)):
        numbers = torch.arange(rank * 3, rank * 3 + 3)[:, None, None]
        wanted = [[rows] if rows else [] for rows in (case.chosen == numbers).sum((1, 2)).tolist()]
        expect_equal(calls, wanted, f"the rows in each call of the three experts of rank {rank}")


@pytest.mark.fine
def test_nobody(answer, gen):
    """A rank may have no tokens, and may get none."""
    cases = {
        "where rank 1 has no tokens": drawn(gen, (4, 0, 3)),
        "where rank 0 gets none": drawn(gen, (4, 2, 3), to=[2, 3, 5]),
        "without any tokens": drawn(gen, (0, 0, 0), to=[0, 1]),
    }
    expect_as_one(answer, cases)


@pytest.mark.fine
def test_dtypes(answer, gen):
    """The result has x's dtype, where weights are in float32."""
    kinds = (torch.float16, torch.bfloat16)
    expect_as_one(answer, {f"of {kind}": drawn(gen, (4, 5), kind=kind) for kind in kinds}, ulps=8)
    case = drawn(gen, (4, 5), kind=torch.float64)
    case.experts, case.weights = case.experts.double(), case.weights.double()
    expect_as_one(answer, {"of float64": case})


@pytest.mark.fine
def test_strides(answer, gen):
    """Inputs may be transposed in memory."""
    case = drawn(gen, (4, 4), dim=4)
    for name in ("x", "chosen", "weights"):
        setattr(case, name, getattr(case, name).T.contiguous().T)
    expect_as_one(answer, {"transposed in memory": case})


def oracle(answer, gen):
    cases = ordinary(gen, 4, 6)

    @cache
    def looked_at():
        return run_ranks(2, look, list(cases.values()), answer=answer)

    return {about: lambda n=number: [found[n] for found in looked_at()] for number, about in enumerate(cases)}
